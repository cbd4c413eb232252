"use strict";
// What every page has: elements, the reader's locale, light and dark, printing, saving.
// Dates and numbers are the browser's; on a page that is not English, only where both speak its language.
// What is saved is for others: it has the page's own.
const { lang: PAGE, dir } = document.documentElement, RTL = dir === "rtl";
const HOUSE = { en: "en-US", ar: "ar-u-nu-latn" }[PAGE] || PAGE;
const READER = (() => {
  try {
    const [own] = Intl.NumberFormat.supportedLocalesOf([navigator.language]);
    return own && (PAGE === "en" || own.split("-")[0] === PAGE) ? own : HOUSE;
  } catch { return HOUSE; }
})();
let locale = READER;
const inHouse = (make) => {
  const before = locale;
  locale = HOUSE;
  try { return make(); } finally { locale = before; }
};
const isEnglish = () => locale.split("-")[0] === "en";

// Words of another direction must not turn round what stands beside them.
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const apart = (text) => (RTL || TURNED.test(text) ? `\u2068${text}\u2069` : text);

const formats = new Map();
function formatter(kind, options) {
  const key = `${locale} ${kind.name} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new kind(locale, options));
  return formats.get(key);
}
const numeral = (number, options) => formatter(Intl.NumberFormat, options).format(number);
const commas = (number) => numeral(Math.round(number), {});
const decimal = (number, digits = 1) =>
  numeral(Number(number.toFixed(digits)), { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
const hundredths = (whole) => numeral(whole / 100, { style: "percent" });
const plainYear = (year) => numeral(year, { useGrouping: false });

// Always the calendar that the fields for dates have, whatever else is usual in a place.
const clock = (date, options) => apart(formatter(Intl.DateTimeFormat, { ...options, calendar: "gregory", timeZone: "UTC" }).format(date));
const longDate = (date) => clock(date, { day: "numeric", month: "long", year: "numeric" });
const isoDate = (iso) => new Date(`${iso}T00:00:00Z`);
const dayOfWeek = (number, width) => clock(new Date(Date.UTC(2024, 0, 1 + number)), { weekday: width });  // a Monday first
const shortDay = (number) => {
  const name = dayOfWeek(number, "short");
  return [...name].length > 5 ? dayOfWeek(number, "narrow") : name;
};
function languageName(code) {
  try { return apart(new Intl.DisplayNames([locale, "en"], { type: "language" }).of(code)); } catch { return code; }
}

// What was written into the page in English, once it is there.
const WRITTEN = /(?<![\w.,\-–&#])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w\-])|(?<![\w.,\-–&#])\d*\.?\d+(?![\w\-]|\.\d)/g;
const DATE = /(?<![\w\-])\d{4}-\d{2}-\d{2}(?![\w\-])/g;
function rewritten(text) {
  const digits = (found) => {
    const plain = found.replace(/,/g, ""), places = (plain.split(".")[1] || "").length;
    return numeral(Number(plain), { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: found.includes(",") || plain.length < 4 });
  };
  const parts = text.split(DATE), dates = text.match(DATE) || [];
  return parts.map((part, at) => part.replace(WRITTEN, digits) + (dates[at] ? longDate(isoDate(dates[at])) : "")).join("");
}
function localise(root = document) {
  if (isEnglish()) return;
  for (const each of root.querySelectorAll("time[datetime]")) each.textContent = longDate(isoDate(each.getAttribute("datetime")));
  for (const each of root.querySelectorAll("[data-language]")) each.textContent = languageName(each.dataset.language);
  for (const each of root.querySelectorAll("[data-local]")) {
    each.dataset.en = each.textContent;
    const walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) walk.currentNode.nodeValue = rewritten(walk.currentNode.nodeValue);
  }
}

// Everything is made from elements and text; no HTML is ever parsed.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}
function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children.flat(Infinity));
  return made;
}

// Light and dark: as the system is, or as the button says; remembered where the browser lets a file.
const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const nameTheme = () => { const name = byId("theme-name"); name.textContent = name.dataset[isDark() ? "light" : "dark"]; };
try { root.dataset.theme = localStorage.getItem("realtalk-theme") ?? ""; } catch { /* no storage */ }
nameTheme();
system.addEventListener("change", nameTheme);
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("realtalk-theme", root.dataset.theme); } catch { /* no storage */ }
  nameTheme();
});
byId("print").addEventListener("click", () => window.print());

function save(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link); link.click(); link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const pictureText = (drawing) => new XMLSerializer().serializeToString(drawing);
const pictureAddress = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
// A drawing as a file, "svg" or "png"; points of a PNG are `scale` times as many.
function savePicture(stem, kind, drawing, scale = 1) {
  const text = pictureText(drawing);
  if (kind === "svg") { save(`${stem}.svg`, new Blob([text], { type: "image/svg+xml" })); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: image.width * scale, height: image.height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(`${stem}.png`, blob), "image/png");
  };
  image.src = pictureAddress(text);
}
