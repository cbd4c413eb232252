"use strict";
// Dates, numbers, weekdays and names of languages as the reader's browser writes them. Sentences stay
// English, and so does what is saved: a card, a chart or a CSV is for others, too.
const HOUSE = "en-US";
const READER = (() => {
  try { return Intl.NumberFormat.supportedLocalesOf([navigator.language])[0] || HOUSE; } catch { return HOUSE; }
})();
let locale = READER;
const inEnglish = (make) => {
  const before = locale;
  locale = HOUSE;
  try { return make(); } finally { locale = before; }
};
const isEnglish = () => locale.split("-")[0] === "en";

// Right-to-left words inside an English sentence must not turn round what stands beside them.
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const apart = (text) => (TURNED.test(text) ? `\u2068${text}\u2069` : text);

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
