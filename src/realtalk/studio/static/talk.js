// Asking the server. A change carries the page's token; a page that outlived its server gets a
// new one. A change that failed is asked again under the same name, so that it counts once.
let token = document.querySelector('meta[name="csrf"]').content;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export function newRequest() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
}

export function toast(line, bad = false) {
  const place = document.getElementById("toast");
  place.textContent = line;
  place.classList.toggle("bad", bad);
  place.classList.add("on");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => place.classList.remove("on"), bad ? 6000 : 2500);
}

export function saved(state) {
  const place = document.getElementById("saved");
  if (!place) return;
  place.dataset.state = state;
  place.textContent = { saved: "Saved", saving: "Saving…", failed: "Not saved, trying again…", refused: "Not saved" }[state] || "";
}

export async function text(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 200));
  return answer.text();
}

export async function json(url) {
  return JSON.parse(await text(url));
}

async function once(method, url, body, raw) {
  const headers = { "x-csrf-token": token };
  if (!raw) headers["content-type"] = "application/json";
  return fetch(url, { method, headers, body: raw ?? JSON.stringify(body) });
}

async function renewed() {
  const answer = await fetch("/csrf");
  if (!answer.ok) return false;
  const { csrf } = await answer.json();
  const fresh = csrf !== token;
  token = csrf;
  return fresh;
}

// → {status, data}; `patient` goes on asking while the server is away.
export async function change(method, url, body, { patient = false, raw } = {}) {
  for (;;) {
    try {
      let answer = await once(method, url, body, raw);
      if (answer.status === 403 && (await renewed())) answer = await once(method, url, body, raw);
      if (answer.status === 403 && patient) throw new Error("not let in");
      const said = await answer.text();
      let data = { error: said };
      try { data = JSON.parse(said); } catch { /* a plain line */ }
      return { status: answer.status, data };
    } catch (error) {
      if (!patient) return { status: 0, data: { error: "the studio does not answer" } };
      saved("failed");
      await wait(1500);
    }
  }
}
