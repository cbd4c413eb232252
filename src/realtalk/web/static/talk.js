// Asking the server. A change carries the page's token; a page that outlived its server gets a
// new one. A change that failed (nobody answers, or 5xx: a full disk, a busy file) is asked again,
// ever less often, under the same name, so that it counts once.
let token = document.querySelector('meta[name="csrf"]').content;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const FIRST = 1000, LONGEST = 15_000; // milliseconds until it is asked again
const AWAY = "the studio does not answer";

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
  const answer = await fetch(url).catch(() => { throw new Error(AWAY); });
  const said = await answer.text();
  if (!answer.ok) throw new Error(parsed(said).error);
  return said;
}

function parsed(said) {
  try { return JSON.parse(said); } catch { return { error: said.slice(0, 300) }; } // a plain line
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

// Not let in, too slow or a fault over there: the same may go well later.
const again = (status) => status >= 500 || status === 403 || status === 408;

// → {status, data}; `patient` goes on asking until it is taken or refused.
export async function change(method, url, body, { patient = false, raw } = {}) {
  let told = "";
  for (let tries = 0; ; tries++) {
    let line = AWAY;
    try {
      let answer = await once(method, url, body, raw);
      if (answer.status === 403 && (await renewed())) answer = await once(method, url, body, raw);
      const data = parsed(await answer.text());
      if (!patient || !again(answer.status)) return { status: answer.status, data };
      line = data.error;
    } catch {
      if (!patient) return { status: 0, data: { error: line } };
    }
    saved("failed");
    if (line !== told) toast(line, true);
    told = line;
    await wait(Math.min(LONGEST, FIRST * 2 ** tries));
  }
}

// A change that is answered in lines of JSON as they come; each is handed to `take`.
export async function lines(url, body, take) {
  let answer = await once("POST", url, body).catch(() => { throw new Error(AWAY); });
  if (answer.status === 403 && (await renewed())) answer = await once("POST", url, body);
  if (!answer.ok) throw new Error(parsed(await answer.text()).error);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new Error(AWAY); });
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const line of parts) take(JSON.parse(line));
  }
}
