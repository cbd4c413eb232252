// The page's data and everything that is counted from it: rows in, figures out. Nothing is drawn.
const RAW = JSON.parse(byId("data").textContent);
const WORDING = JSON.parse(byId("wording").textContent);
const MEDIA = ["image", "video", "audio", "sticker", "file"];
const SUMMED = ["messages", "words", "characters", "question", "links", ...MEDIA, "calls", "edited",
  "deleted", "starts", "ends", "turn", "reacted", "reactions", "tokens"];
const FELT = ["felt", "positive", "negative", "intimacy_n", "intimacy", "empathy_n", "empathy",
  "low_n", "low_empathy", "other_n", "other_empathy"];

const running = (steps) => { let at = 0; return steps.map((step) => (at += step)); };
const ROWS = { ...RAW.rows, chat: running(RAW.rows.chat) };
const COUNT = ROWS.day.length;
for (const name of [...SUMMED, ...FELT]) ROWS[name] = ROWS[name] || new Array(COUNT).fill(0);
const HAS = (name) => Boolean(RAW.rows[name]);
const entriesOf = (part) => part && { ...part, row: running(part.row) };
const PARTS = {};
for (const name of ["hours", "words", "emoji", "laughter", "openings", "domains", "emotions"]) {
  if (RAW[name]) PARTS[name] = entriesOf(RAW[name]);
}
// The cell (chat, week or month, person) of every entry of what can be looked up, and its item.
const LOOKUP = RAW.lookup && { ...RAW.lookup, item: RAW.lookup.sizes.flatMap((size, item) => new Array(size).fill(item)) };
const EVERYONE = Array.from({ length: RAW.people.length + (RAW.others ? 1 : 0) }, (_, person) => person);
for (const name of ["answers", "mentions"]) if (RAW[name]) PARTS[name] = { ...entriesOf(RAW[name]), items: EVERYONE };
const REPLIES = { row: running(RAW.replies.row), values: RAW.replies.values };
const PEOPLE = RAW.people.length + (RAW.others ? 1 : 0);
const FIRST = RAW.first ? Date.UTC(...RAW.first.split("-").map((part, at) => Number(part) - (at === 1))) : null;
const LAST_DAY = ROWS.day.reduce((most, day) => Math.max(most, day), -1);
const dateOf = (day) => new Date(FIRST + day * 864e5);
const isoOf = (day) => dateOf(day).toISOString().slice(0, 10);
const dayOf = (iso) => Math.round((Date.parse(iso + "T00:00:00Z") - FIRST) / 864e5);
const byMonth = (day) => isoOf(day).slice(0, 7);
const byWeek = (day) => isoOf(day - ((dateOf(day).getUTCDay() + 6) % 7));

// Every month (2024-01) or week (its Monday) from the first to the last, those without anything too.
function unbroken(bins) {
  const keys = [...bins].sort(), last = keys[keys.length - 1], found = [];
  const next = (key) => (key.length === 7 ? byMonth(dayOf(`${key}-01`) + 31) : isoOf(dayOf(key) + 7));
  for (let key = keys[0]; key !== undefined; key = key === last ? undefined : next(key)) found.push(key);
  return found;
}

// A selection is {people: [numbers] or null, chat: number or null, from: day or null, to: day or null}.
function select(choice) {
  const people = choice.people && choice.people.length ? new Set(choice.people) : null;
  const period = choice.from !== null || choice.to !== null;
  const from = choice.from ?? 0, to = choice.to ?? Infinity;
  const near = new Uint8Array(COUNT), own = new Uint8Array(COUNT);
  for (let row = 0; row < COUNT; row++) {
    const day = ROWS.day[row];
    if (choice.chat !== null && ROWS.chat[row] !== choice.chat) continue;
    if (period && (day < from || day > to)) continue;
    near[row] = 1;
    if (!people || people.has(ROWS.person[row])) own[row] = 1;
  }
  return { near, own };
}

function quantile(sorted, share) {
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * share, low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

function figures(choice) {
  const { near, own } = select(choice);
  const people = Array.from({ length: PEOPLE }, (_, person) => ({
    person, night: 0, morning: 0, timed: 0, waits: [], ...Object.fromEntries(SUMMED.map((name) => [name, 0])),
  }));
  const days = new Map();
  let all = 0;
  for (let row = 0; row < COUNT; row++) {
    if (!near[row]) continue;
    all += ROWS.messages[row];
    if (!own[row]) continue;
    const who = people[ROWS.person[row]];
    for (const name of SUMMED) who[name] += ROWS[name][row];
    if (ROWS.day[row] >= 0 && ROWS.messages[row]) {
      days.set(ROWS.day[row], (days.get(ROWS.day[row]) || 0) + ROWS.messages[row]);
    }
  }
  const week = Array.from({ length: 7 }, () => new Array(24).fill(0));
  const { row: rows, item: hours, count: counts } = PARTS.hours;
  for (let at = 0; at < rows.length; at++) {
    if (!own[rows[at]]) continue;
    const who = people[ROWS.person[rows[at]]], hour = hours[at];
    week[(dateOf(ROWS.day[rows[at]]).getUTCDay() + 6) % 7][hour] += counts[at];
    who.timed += counts[at];
    if (hour < 5) who.night += counts[at];
    else if (hour < 10) who.morning += counts[at];
  }
  REPLIES.row.forEach((row, at) => {
    if (own[row]) people[ROWS.person[row]].waits.push(...REPLIES.values[at]);
  });
  const total = Object.fromEntries(SUMMED.map((name) => [name, people.reduce((sum, who) => sum + who[name], 0)]));
  for (const who of people) {
    who.waits.sort((a, b) => a - b);
    who.replies = who.waits.length;
    who.reply = quantile(who.waits, 0.5);
    who.quick = quantile(who.waits, 0.25);
    who.slow = quantile(who.waits, 0.75);
    who.share = all ? who.messages / all : null;
    who.started = total.starts ? who.starts / total.starts : null;
    who.ended = total.ends ? who.ends / total.ends : null;
    delete who.waits;
  }
  const present = people.filter((who) => who.messages || who.reacted);
  return { total: { ...total, all, people: present.filter((who) => who.messages).length, ...spanOf(days) },
    ...courseOf(days), people: present, days, week, own, near };
}

function spanOf(days) {
  if (!days.size) return { first: null, last: null, active: 0, span: 0 };
  const order = [...days.keys()];
  const first = order.reduce((a, b) => Math.min(a, b)), last = order.reduce((a, b) => Math.max(a, b));
  return { first, last, active: days.size, span: last - first + 1 };
}

// The longest run of days with messages, the longest without, and the fullest day; the first of
// equals, and how many there are.
function courseOf(days) {
  const longer = (most, span) => (!most || span.days > most.days ? { ...span, times: 1 } : { ...most, times: most.times + (span.days === most.days) });
  const order = [...days.keys()].sort((a, b) => a - b);
  let streak = null, silence = null, busiest = null, began = null;
  order.forEach((day, at) => {
    const before = order[at - 1];
    if (at === 0 || day !== before + 1) {
      if (at) silence = longer(silence, { days: day - before - 1, from: before + 1, to: day - 1 });
      began = day;
    }
    if (order[at + 1] !== day + 1) streak = longer(streak, { days: day - began + 1, from: began, to: day });
    if (!busiest || days.get(day) > busiest.messages) busiest = { messages: days.get(day), day, times: 1 };
    else if (days.get(day) === busiest.messages) busiest.times++;
  });
  return { streak, silence, busiest };
}

// Messages by month and person, every month from the first to the last.
function monthly(result) {
  const months = new Map();
  for (let row = 0; row < COUNT; row++) {
    if (!result.own[row] || ROWS.day[row] < 0 || !ROWS.messages[row]) continue;
    const key = byMonth(ROWS.day[row]);
    if (!months.has(key)) months.set(key, new Array(PEOPLE).fill(0));
    months.get(key)[ROWS.person[row]] += ROWS.messages[row];
  }
  return unbroken(months.keys()).map((key) => ({ month: key, counts: months.get(key) || new Array(PEOPLE).fill(0) }));
}

// Every chat with its people, messages and days, the fullest first.
function chatList() {
  const chats = new Map();
  for (let row = 0; row < COUNT; row++) {
    if (!chats.has(ROWS.chat[row])) chats.set(ROWS.chat[row], { chat: ROWS.chat[row], messages: 0, people: new Map(), first: null, last: null });
    const entry = chats.get(ROWS.chat[row]), day = ROWS.day[row];
    if (!ROWS.messages[row]) continue;
    entry.messages += ROWS.messages[row];
    entry.people.set(ROWS.person[row], (entry.people.get(ROWS.person[row]) || 0) + ROWS.messages[row]);
    if (day >= 0) { entry.first = entry.first === null ? day : Math.min(entry.first, day); entry.last = Math.max(entry.last ?? day, day); }
  }
  return [...chats.values()].sort((a, b) => a.chat - b.chat);
}

// Uses of items by person: {item: [count per person]}, and the first item of each person.
function uses(name, mask) {
  const part = PARTS[name], counts = part.items.map(() => new Array(PEOPLE).fill(0));
  const firsts = new Array(PEOPLE).fill(null);
  for (let at = 0; at < part.row.length; at++) {
    const row = part.row[at];
    if (!mask[row]) continue;
    const person = ROWS.person[row], day = ROWS.day[row];
    counts[part.item[at]][person] += part.count[at];
    if (day >= 0 && (!firsts[person] || day < firsts[person].day)) firsts[person] = { day, item: part.item[at] };
  }
  return { items: part.items, counts, firsts };
}

// A week or month that the chosen time touches counts whole; null stands for no person's limit.
function lookedUp(choice) {
  const people = choice.people && choice.people.length ? new Set(choice.people) : null, { cells } = LOOKUP;
  const bin = LAST_DAY > 182 ? byMonth : byWeek, low = choice.from === null ? null : bin(choice.from), high = choice.to === null ? null : bin(choice.to);
  return cells.day.map((day, cell) => {
    if (choice.chat !== null && cells.chat[cell] !== choice.chat) return null;
    if (people && !people.has(cells.person[cell])) return null;
    const key = day < 0 ? "" : bin(day);
    if ((low !== null && key < low) || (high !== null && (key > high || key === ""))) return null;
    return { key, person: cells.person[cell] };
  });
}
// The words and phrases that each person used most: [{words: [{item, count}], phrases: […]}].
function mostUsed(choice) {
  const cells = lookedUp(choice), shown = LOOKUP.words + LOOKUP.phrases;
  const counts = Array.from({ length: PEOPLE }, () => new Array(shown).fill(0));
  LOOKUP.cell.forEach((cell, at) => { if (cells[cell] && LOOKUP.item[at] < shown) counts[cells[cell].person][LOOKUP.item[at]] += LOOKUP.count[at]; });
  const best = (own, from, to) => own.slice(from, to).map((count, at) => ({ item: LOOKUP.items[from + at], count })).filter((entry) => entry.count >= PARTS.words.least[0]).sort((a, b) => b.count - a.count);
  return counts.map((own) => ({ words: best(own, 0, LOOKUP.words).slice(0, 10), phrases: best(own, LOOKUP.words, shown).slice(0, 5) }));
}
// A word as it is compared: in lower case, without apostrophes and needless spaces.
const plainWord = (word) => word.toLowerCase().replace(/['’]/g, "").trim().replace(/\s+/g, " ");
// Its uses by week or month and person, every one from the chat's first to its last; null where it is not held.
function courseOfWord(word, choice) {
  const exact = word.toLowerCase().replace(/’/g, "'").trim();
  const number = LOOKUP.items.includes(exact) ? LOOKUP.items.indexOf(exact) : LOOKUP.items.findIndex((item) => plainWord(item) === plainWord(word));
  if (number < 0) return null;
  const cells = lookedUp(choice), bins = new Map();
  for (const cell of cells) if (cell && cell.key) bins.set(cell.key, new Array(PEOPLE).fill(0));
  let total = 0;
  LOOKUP.cell.forEach((cell, at) => {
    if (LOOKUP.item[at] !== number || !cells[cell]) return;
    total += LOOKUP.count[at];
    if (cells[cell].key) bins.get(cells[cell].key)[cells[cell].person] += LOOKUP.count[at];
  });
  return { word: LOOKUP.items[number], total, bins: unbroken(bins.keys()).map((key) => ({ month: key, counts: bins.get(key) || new Array(PEOPLE).fill(0) })) };
}

// Log-odds with an informative prior (Monroe, Colaresi and Quinn 2008), in standard errors.
function logOdds(own, size, others, othersSize, share) {
  const prior = share * WORDING.least.prior, more = WORDING.least.prior;
  const odds = (count, of) => Math.log(count / (of - count));
  const difference = odds(own + prior, size + more) - odds(others + prior, othersSize + more);
  return difference / Math.sqrt(1 / (own + prior) + 1 / (others + prior));
}

// The words that set each person apart from all others in the same chats and time.
function typicalWords(result) {
  const used = uses("words", result.near), sizes = new Array(PEOPLE).fill(0);
  for (let row = 0; row < COUNT; row++) if (result.near[row]) sizes[ROWS.person[row]] += ROWS.tokens[row];
  const everybody = sizes.reduce((a, b) => a + b, 0);
  return sizes.map((size, person) => {
    if (!size || size === everybody) return [];
    return used.items.map((word, item) => {
      const counts = used.counts[item], together = counts.reduce((a, b) => a + b, 0);
      const z = logOdds(counts[person], size, together - counts[person], everybody - size, PARTS.words.shares[item]);
      return { word, count: counts[person], others: together - counts[person], z };
    }).filter((entry) => entry.count >= PARTS.words.least[0] && entry.z >= WORDING.least.typical)
      .sort((a, b) => b.z - a.z || (a.word < b.word ? -1 : 1)).slice(0, 14);
  });
}

// A mean over turns with its interval by whole days: [[sum, number], …], one pair per day.
function ratio(pairs, low = -Infinity, high = Infinity) {
  const used = pairs.filter(([, n]) => n), n = used.reduce((sum, pair) => sum + pair[1], 0);
  const few = { value: null, low: null, high: null, n, days: used.length };
  if (n < WORDING.least.turns || used.length < WORDING.least.days) return few;
  const value = used.reduce((sum, pair) => sum + pair[0], 0) / n, freedom = used.length - 1;
  const spread = used.reduce((sum, [x, size]) => sum + (x - value * size) ** 2, 0);
  const t = freedom <= WORDING.t.length ? WORDING.t[freedom - 1] : 1.96 + 2.4 / freedom;
  const margin = t * Math.sqrt(spread * used.length / freedom) / n;
  return { value, low: Math.max(low, value - margin), high: Math.min(high, value + margin), n, days: used.length };
}

const MEASURES = {
  mood: { of: (row) => [ROWS.positive[row] - ROWS.negative[row], ROWS.felt[row]], range: [-1, 1] },
  positive: { of: (row) => [ROWS.positive[row], ROWS.felt[row]], range: [0, 1] },
  negative: { of: (row) => [ROWS.negative[row], ROWS.felt[row]], range: [0, 1] },
  intimacy: { of: (row) => [ROWS.intimacy[row], ROWS.intimacy_n[row]], range: [0, 1] },
  empathy: { of: (row) => [ROWS.empathy[row], ROWS.empathy_n[row]], range: [0, 6] },
  low: { of: (row) => [ROWS.low_empathy[row], ROWS.low_n[row]], range: [0, 6] },
  other: { of: (row) => [ROWS.other_empathy[row], ROWS.other_n[row]], range: [0, 6] },
};

// A measure of the rows chosen, by bins of days (null: all in one).
function measured(name, mask, people, bin = () => 0) {
  const bins = new Map(), { of, range } = MEASURES[name];
  for (let row = 0; row < COUNT; row++) {
    if (!mask[row] || (people && !people.has(ROWS.person[row]))) continue;
    const [sum, n] = of(row);
    if (!n) continue;
    const key = bin(ROWS.day[row]), day = ROWS.day[row];
    if (!bins.has(key)) bins.set(key, new Map());
    const pair = bins.get(key).get(day) || [0, 0];
    bins.get(key).set(day, [pair[0] + sum, pair[1] + n]);
  }
  return new Map([...bins].map(([key, days]) => [key, ratio([...days.values()], ...range)]));
}

const overall = (name, mask, people) =>
  measured(name, mask, people).get(0) || { value: null, low: null, high: null, n: 0, days: 0 };

// Days whose mood lies far from the rest: at least eight turns, three standard errors away.
function standingOut(mask) {
  const days = new Map();
  let sum = 0, n = 0, squares = 0;
  for (let row = 0; row < COUNT; row++) {
    if (!mask[row] || ROWS.day[row] < 0 || !ROWS.felt[row]) continue;
    const mood = ROWS.positive[row] - ROWS.negative[row], pair = days.get(ROWS.day[row]) || [0, 0];
    days.set(ROWS.day[row], [pair[0] + mood, pair[1] + ROWS.felt[row]]);
    sum += mood; n += ROWS.felt[row]; squares += ROWS.positive[row] + ROWS.negative[row];
  }
  if (n < WORDING.least.turns) return [];
  const mean = sum / n, variance = squares / n - mean * mean;
  return [...days].filter(([, pair]) => pair[1] >= WORDING.least.day_turns).map(([day, [mood, size]]) => (
    { day, mood: mood / size, n: size, z: (mood / size - mean) / Math.sqrt(variance / size) }
  )).filter((entry) => Math.abs(entry.z) >= 3).sort((a, b) => b.z - a.z || a.day - b.day);
}
