// Figures → SVG and tables. Everything is made from elements and text; no HTML is ever parsed.
const titled = (node, text) => { node.append(svg("title", {}, text)); return node; };
const bdi = (text) => el("bdi", {}, text);

// A phrase of the page's language: its plural form is chosen by `n`, shown with `digits`; gaps are filled.
const LABELS = WORDING.labels;
const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const pluralRules = [0, 1].map((digits) => new Intl.PluralRules(PAGE, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
function say(phrase, values = {}, digits = 0) {
  if (values.n === undefined) return fill(phrase, values);
  const template = typeof phrase === "string" ? phrase : phrase[pluralRules[digits].select(values.n)];
  return fill(template, { ...values, n: digits ? decimal(values.n, digits) : commas(values.n) });
}
// The same with elements in its gaps.
const pieces = (template, values) => template.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] : part));
const counted = (number, noun, digits = 0) => say(WORDING.counts[noun], { n: number }, digits);
const joined = (names) => (names.length > 1 ? say(LABELS.and, { first: names.slice(0, -1).join(LABELS.comma), last: names[names.length - 1] }) : names[0]);

// A sign at a number would change its side, and marks around it what follows, on a page from right to left.
const figureAlone = (text) => (RTL ? apart(text) : text);
const percent = (share) => {
  const value = share * 100, text = (whole) => figureAlone(hundredths(whole));
  return value > 0 && value < 1 ? say(LABELS.under, { share: text(1) }) : value > 99 && value < 100 ? say(LABELS.over, { share: text(99) }) : text(Math.round(value));
};
const dated = (day) => {
  const date = dateOf(day);
  return isEnglish() ? `${date.getUTCDate()} ${named(date, { month: "long" })} ${date.getUTCFullYear()}` : longDate(date);
};
// English names of months and days are the same in all places that write English.
const named = (date, options) => (isEnglish() ? inHouse(() => clock(date, options)) : clock(date, options));
const monthName = (key) => named(isoDate(`${key}-01`), { month: "long", year: "numeric" });
const shortMonth = (date) => named(date, { month: "short" });
const weekdayName = (day) => (isEnglish() ? inHouse(() => dayOfWeek(day, "long")) : dayOfWeek(day, "long"));
const weekdayShort = (day) => (isEnglish() ? inHouse(() => shortDay(day)) : shortDay(day));
const hourName = (hour) => (isEnglish() ? `${hour}:00` : clock(new Date(Date.UTC(2024, 0, 1, hour % 24)), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }));
// A wait in the unit of the export's clock, in words; a clock of minutes knows no seconds. Of the
// group "within" it is what stands behind that word: "a minute".
function waited(value, group = "counts") {
  const seconds = RAW.unit === "minute" ? value * 60 : value, words = WORDING[group];
  if (seconds < 60 && (RAW.unit === "minute" || seconds < 1)) return group === "counts" ? LABELS.under_minute : say(words.minute, { n: 1 });
  if (seconds < 60) return say(words.second, { n: Math.round(seconds) });
  if (seconds < 3570) return say(words.minute, { n: Math.round(seconds / 60) });
  const hours = seconds / 3600, tenths = Number(hours.toFixed(1));
  return hours < 9.95 ? say(words.hour, { n: tenths }, Number.isInteger(tenths) ? 0 : 1) : say(words.hour, { n: Math.round(hours) });
}

// A chart with its caption and the same figures as a table, for those who do not see it.
function figure(caption, drawing, headings, rows, note = null) {
  return el("figure", {}, el("figcaption", {}, caption), el("div", { class: "drawing" }, drawing), note && el("p", { class: "note" }, note),
    el("details", { class: "numbers" }, el("summary", {}, LABELS.numbers), grid(headings, rows, say(LABELS.in_numbers, { caption }))));
}
function grid(headings, rows, label, classes = "") {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: classes },
    el("thead", {}, el("tr", {}, headings.map((heading) => (heading === "" ? el("td") : el("th", { scope: "col" }, heading))))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) => (at ? el("td", {}, cell ?? "–") : el("th", { scope: "row" }, cell ?? "–"))))))));
}

// Charts are drawn as wide as there is room, so that their letters keep their size.
function chartWidth() {
  const main = document.getElementById("main"), style = getComputedStyle(main);
  return Math.max(300, main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}
const tone = (share) => (share <= 0 ? 0 : 1 + Math.min(4, Math.floor(share * 4.999)));

// A square per day, a column per week; a block per year, unless all is within one year's length.
function calendar(days, first, last) {
  const years = new Map(), short = last - first < 366;
  for (let day = first; day <= last; day++) {
    const year = short ? "" : dateOf(day).getUTCFullYear();
    if (!years.has(year)) years.set(year, []);
    years.get(year).push(day);
  }
  let most = 0;
  for (const count of days.values()) most = Math.max(most, count);
  const weeks = short ? Math.ceil((last - first + 7) / 7) : 54, size = Math.max(13, Math.min(26, Math.floor(850 / weeks)));
  return [...years].map(([year, block]) => {
    const begin = short ? first : dayOf(`${String(year).padStart(4, "0")}-01-01`), lead = (dateOf(begin).getUTCDay() + 6) % 7;
    const place = (day) => [Math.floor((day - begin + lead) / 7), (day - begin + lead) % 7];
    const [start] = place(block[0]), [end] = place(block[block.length - 1]);
    let wide = Math.max(end - start + 1, 8) * size + 34;
    const cells = block.map((day) => {
      const [week, weekday] = place(day), count = days.get(day) || 0;
      return titled(svg("rect", { class: `heat-${tone(Math.sqrt(count / most))}`, x: 34 + (week - start) * size, y: 18 + weekday * size, width: size - 2, height: size - 2, rx: 2.5 }),
        say(LABELS.of_day, { date: dated(day), count: counted(count, "message") }));
    });
    let free = -99;
    const names = block.filter((day, at) => dateOf(day).getUTCDate() === 1 || at === 0).map((day) => {
      const x = 34 + (place(day)[0] - start) * size, month = shortMonth(dateOf(day)), name = short && dateOf(day).getUTCMonth() === 0 ? binName(byMonth(day), true) : month;
      if (x < free) return null;
      free = x + Math.max(26, 7 * [...(isEnglish() ? month : name)].length + 6);
      wide = Math.max(wide, x + 8 * name.length);  // the last is not cut off
      return svg("text", { x, y: 11 }, name);
    }).filter(Boolean);
    const weekdays = [0, 2, 4].map((day, at) => svg("text", { x: 0, y: 15 + size / 2 + 5 + at * 2 * size }, weekdayShort(day)));
    return el("div", { class: short ? "" : "year" }, short ? null : el("span", { class: "year-name" }, plainYear(year)),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": short ? LABELS.calendar : say(LABELS.calendar_of, { year: plainYear(year) }) },
        svg("svg", { viewBox: `0 0 ${wide} ${22 + 7 * size}`, width: wide, height: 22 + 7 * size, class: "plain" }, names, weekdays, cells)));
  });
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];
function weekChart(week) {
  const most = Math.max(1, ...week.flat()), wide = (chartWidth() - 40) / 24, high = Math.min(24, Math.max(16, wide));
  const cells = week.flatMap((hours, day) => hours.map((count, hour) => titled(
    svg("rect", { class: `heat-${tone(count / most)}`, x: 40 + hour * wide, y: 20 + day * high, width: wide - 2, height: high - 2, rx: 3 }),
    say(LABELS.of_hour, { weekday: weekdayName(day), from: hourName(hour), to: hourName(hour + 1), count: counted(count, "message") }))));
  const hours = (wide < 16 ? [0, 6, 12, 18] : [0, 3, 6, 9, 12, 15, 18, 21]).map((hour) => svg("text", { x: 40 + hour * wide, y: 13 }, hourName(hour)));
  const names = WEEKDAYS.map((day) => svg("text", { x: 0, y: 24 + high / 2 + day * high }, weekdayShort(day)));
  return svg("svg", { viewBox: `0 0 ${40 + 24 * wide} ${22 + 7 * high}`, class: "fluid", role: "img", "aria-label": LABELS.by_weekday }, hours, names, cells);
}

function niceTop(value) {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * step).find((top) => top >= value) || value;
}

// Bars of people on top of one another, one per month or week; real times below.
function monthChart(months, people, label = LABELS.by_month, unit = "message") {
  const W = chartWidth(), H = 220, left = 46, bottom = 24, top = niceTop(Math.max(...months.map((entry) => sum(entry.counts))));
  const wide = (W - left) / months.length, y = (value) => (H - bottom) * (1 - value / top) + 6;
  const marks = [0, top / 2, top].map((value) => [svg("line", { class: "grid", x1: left, x2: W, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, commas(value))]).flat();
  const bars = months.flatMap((entry, at) => {
    let from = 0;
    return people.map((person) => {
      const count = entry.counts[person];
      if (!count) return null;
      const bar = svg("rect", { class: `fill-${colour(person)}`, x: left + at * wide + wide * 0.08, width: Math.max(1, wide * 0.84), y: y(from + count), height: Math.max(0.5, y(from) - y(from + count)) });
      from += count;
      return titled(bar, say(LABELS.of_name, { time: binName(entry.month), name: nameOf(person), count: counted(count, unit) }));
    }).filter(Boolean);
  });
  return svg("svg", { viewBox: `0 0 ${W} ${H + 12}`, class: "fluid", role: "img", "aria-label": label }, marks, bars, timeAxis(months.map((entry) => entry.month), left, wide, H + 6));
}
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Names of months or weeks, as many as fit; one that would be cut off at the end is left out.
function timeAxis(keys, left, wide, y) {
  const every = Math.max(1, Math.ceil(78 / wide)), beyond = (at) => (keys.length - at - 0.5) * wide < 30;
  return keys.map((key, at) => (at % every || beyond(at) ? null : svg("text", { x: left + (at + 0.5) * wide, y, "text-anchor": "middle" }, binName(key, true)))).filter(Boolean);
}
function binName(key, short = false) {
  const month = key.length === 7, date = isoDate(month ? `${key}-01` : key);
  if (!short) return month ? monthName(key) : say(LABELS.week_of, { date: dated(dayOf(key)) });
  if (!isEnglish()) return clock(date, month ? { month: "short", year: "numeric" } : { day: "numeric", month: "short" });
  return month ? `${shortMonth(date)} ${key.slice(0, 4)}` : `${date.getUTCDate()} ${shortMonth(date)}`;
}

// Round numbers that hold everything from low to high, within a measure's range.
function niceTicks(low, high, range) {
  const rough = Math.max(high - low, 0.02) / 4, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((size) => size >= rough);
  const ticks = [];
  for (let at = Math.floor(low / step + 1e-9); ; at++) {
    ticks.push(Math.min(range[1], Math.max(range[0], Number((at * step).toPrecision(6)))));
    if (at * step >= high - 1e-9) return [...new Set(ticks)];
  }
}

// Lines with their intervals as bands. The keys are every month or week in turn, so a place on the
// axis is a time; one that cannot carry a figure is a gap.
function lineChart(label, keys, series, range, format) {
  const W = chartWidth(), H = 210, left = 52, wide = (W - left) / keys.length;
  const values = series.flatMap((line) => line.points.filter(Boolean).flatMap((point) => [point.low, point.high]));
  let low = Math.max(range[0], Math.min(...values)), high = Math.min(range[1], Math.max(...values));
  const ticks = niceTicks(low, high, range);
  low = ticks[0]; high = ticks[ticks.length - 1];
  const x = (at) => left + (at + 0.5) * wide, y = (value) => 8 + (H - 30) * (1 - (value - low) / (high - low || 1));
  const marks = ticks.map((value) => [svg("line", { class: "grid", x1: left, x2: W, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value))]).flat();
  if (low < 0 && high > 0) marks.push(svg("line", { class: "zero", x1: left, x2: W, y1: y(0), y2: y(0) }));
  const drawn = series.flatMap((line) => {
    const parts = [];
    let run = [];
    [...line.points, null].forEach((point, at) => {
      if (point) { run.push([at, point]); return; }
      if (run.length) {
        const up = run.map(([i, p]) => `${x(i)},${y(p.high)}`), down = run.map(([i, p]) => `${x(i)},${y(p.low)}`).reverse();
        if (run.length > 1) {
          parts.push(svg("polygon", { class: `band fill-${line.colour}`, points: [...up, ...down].join(" ") }));
          parts.push(svg("polyline", { class: `line stroke-${line.colour}`, points: run.map(([i, p]) => `${x(i)},${y(p.value)}`).join(" ") }));
        }
        for (const [i, p] of run) {
          if (run.length === 1) parts.push(svg("line", { class: `line thin stroke-${line.colour}`, x1: x(i), x2: x(i), y1: y(p.low), y2: y(p.high) }));
          parts.push(titled(svg("circle", { class: `fill-${line.colour}`, cx: x(i), cy: y(p.value), r: keys.length > 60 ? 2 : 3.5 }),
            say(LABELS.point, { name: line.name, time: binName(keys[i]), value: format(p.value), low: format(p.low), high: format(p.high), turns: counted(p.n, "turn") })));
        }
      }
      run = [];
    });
    return parts;
  });
  return svg("svg", { viewBox: `0 0 ${W} ${H + 4}`, class: "fluid", role: "img", "aria-label": label }, marks, drawn, timeAxis(keys, left, wide, H - 2));
}

// One bar per name, with its figure behind it. Shares stand on a track that means all; counts have
// no whole, so they have no track and the largest is as long as there is room.
function bars(entries, { shares }) {
  const whole = shares ? 1 : Math.max(...entries.map((entry) => entry.value));
  return el("ul", { class: shares ? "bars of-all" : "bars" }, entries.map((entry) => {
    const bar = el("span", { class: `bar-fill fill-${entry.colour ?? "0"}` });
    bar.style.width = `${whole ? Math.max(1, (entry.value / whole) * 100) : 0}%`;
    return el("li", {}, el("span", { class: "bar-name" }, entry.name), el("span", { class: "bar-track" }, bar), el("span", { class: "bar-value" }, entry.text));
  }));
}
