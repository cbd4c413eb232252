// The page itself: filters, and every section made again from the figures that they choose.
const put = (id, ...children) => byId(id).replaceChildren(...children.flat().filter(Boolean));
const show = (id, visible) => { byId(id).hidden = !visible; };

function legend(people) {
  return el("ul", { class: "legend" }, people.map((person) => el("li", {}, el("span", { class: `dot fill-${colour(person)}`, "aria-hidden": "true" }), bdi(nameOf(person)))));
}

function drawGlance(result) {
  const items = glance(result);
  put("glance-items", items.length ? items.map((item, at) => el("li", { class: at ? "" : "first" }, el("span", { class: "big" }, item.figure), " ", el("span", { class: "says" }, item.text)))
    : [el("li", { class: "first" }, el("span", { class: "says" }, LABELS.nothing))]);
}

// A key of the wording's columns, a cell, and whether it is shown.
const COLUMNS = [
  ["messages", (who) => commas(who.messages), () => true],
  ["share", (who) => percent(who.share), (result) => result.people.length > 1 || state.people],
  ["words", (who) => commas(who.words), () => !RAW.spaceless],
  ["words_each", (who) => (who.messages ? decimal(who.words / who.messages) : null), () => !RAW.spaceless],
  ["characters", (who) => commas(who.characters), () => RAW.spaceless],
  ["characters_each", (who) => (who.messages ? decimal(who.characters / who.messages) : null), () => RAW.spaceless],
  ["begins", (who) => commas(who.starts), (result) => result.total.starts > 1],
  ["ends", (who) => commas(who.ends), (result) => result.total.starts > 1],
  ["reply", (who) => (who.replies >= WORDING.least.replies ? waited(who.reply) : null), (result) => result.people.some((who) => who.replies >= WORDING.least.replies)],
  ["middle", (who) => (who.replies >= 4 * WORDING.least.replies ? between(who) : null), (result) => result.people.some((who) => who.replies >= 4 * WORDING.least.replies)],
  ["night", (who) => (who.timed ? percent(who.night / who.timed) : null), (result) => result.people.some((who) => who.timed)],
  ["morning", (who) => (who.timed ? percent(who.morning / who.timed) : null), (result) => result.people.some((who) => who.timed)],
  ["question", (who) => (who.messages ? percent(who.question / who.messages) : null), (result) => result.total.question],
  ["image", (who) => commas(who.image), (result) => result.total.image],
  ["video", (who) => commas(who.video), (result) => result.total.video],
  ["audio", (who) => commas(who.audio), (result) => result.total.audio],
  ["sticker", (who) => commas(who.sticker), (result) => result.total.sticker],
  ["file", (who) => commas(who.file), (result) => result.total.file],
  ["links", (who) => commas(who.links), (result) => result.total.links],
  ["calls", (who) => commas(who.calls), (result) => result.total.calls],
  ["reacted", (who) => commas(who.reacted), (result) => result.total.reacted],
  ["reactions", (who) => commas(who.reactions), (result) => result.total.reactions],
  ["edited", (who) => commas(who.edited), (result) => result.total.edited],
  ["deleted", (who) => commas(who.deleted), (result) => result.total.deleted],
];
function between(who) {
  const low = waited(who.quick), high = waited(who.slow);
  return low === high ? low : say(LABELS.span, { from: low, to: high });
}

const together = () => CHATS > 1 && state.chat === null;
function chatName(chat) {
  if (chat >= RAW.chats.length) return counted(RAW.other_chats, "other_chat");
  return state.hidden || RAW.anonymous ? say(LABELS.chat_number, { number: commas(chat + 1) }) : RAW.chats[chat];
}
function drawChats(choose) {
  show("chats", CHATS > 1);
  if (CHATS < 2) return;
  const rows = chatList().map((entry) => {
    const people = [...entry.people.entries()].sort((a, b) => b[1] - a[1]).map(([person]) => saidName(person));
    const name = el("button", { type: "button", class: "chip", "aria-pressed": String(state.chat === entry.chat), onclick: () => choose(entry.chat) }, bdi(chatName(entry.chat)));
    return [name, people.length > 3 ? say(LABELS.and_others, { names: people.slice(0, 2).join(LABELS.comma), others: counted(people.length - 2, "other") }) : joined(people), commas(entry.messages), entry.first === null ? null : dated(entry.first), entry.last === null ? null : dated(entry.last)];
  });
  put("chats-body", grid([LABELS.chat, LABELS.people, WORDING.columns.messages, LABELS.first, LABELS.last], rows, LABELS.chats, "many"), together() ? el("p", { class: "note" }, LABELS.choose) : null);
}

// Rows answer, columns are answered; a darker cell means more.
function groupFigures(result) {
  const { counts } = uses("answers", result.own), people = result.people.filter((who) => who.messages).map((who) => who.person), parts = [];
  const most = Math.max(0, ...counts.flat());
  if (people.length < 3 || !most) return parts;
  const cell = (by, to) => (by === to ? "" : el("span", { class: `answers heat-${Math.min(2, Math.ceil((counts[to][by] / most) * 2))}` }, commas(counts[to][by])));
  parts.push(el("figure", {}, el("figcaption", {}, LABELS.who_answers), grid([el("span", { class: "small" }, LABELS.answers), ...people.map((person) => bdi(nameOf(person)))], people.map((by) => [bdi(nameOf(by)), ...people.map((to) => cell(by, to))]), LABELS.who_answers, "many"),
    el("p", { class: "note" }, LABELS.answers_note)));
  if (!PARTS.mentions) return parts;
  const named = uses("mentions", result.own), entries = people.map((person) => ({ name: bdi(nameOf(person)), value: sum(named.counts[person]), text: counted(sum(named.counts[person]), "message"), colour: colour(person) })).filter((entry) => entry.value).sort((a, b) => b.value - a.value);
  if (entries.length) parts.push(el("figure", {}, el("figcaption", {}, LABELS.mentioned), bars(entries, { shares: false })));
  return parts;
}

function drawPeople(result) {
  const people = result.people.filter((who) => who.messages || who.reacted).sort((a, b) => (a.person === OTHERS) - (b.person === OTHERS) || b.messages - a.messages);
  show("people", people.length > 0 && !together());
  if (!people.length) return;
  const columns = COLUMNS.filter(([, , applies]) => applies(result));
  const heads = people.map((who) => el("span", { class: "who" }, el("span", { class: `dot fill-${colour(who.person)}`, "aria-hidden": "true" }), bdi(nameOf(who.person))));
  const side = people.length <= 4;  // few people stand side by side, many below one another
  const rows = side ? columns.map(([name, of]) => [WORDING.columns[name], ...people.map(of)]) : people.map((who, at) => [heads[at], ...columns.map(([, of]) => of(who))]);
  put("people-body", people.length > 1 ? bars(people.map((who) => ({ name: bdi(nameOf(who.person)), value: who.share, text: say(LABELS.share_and_count, { share: percent(who.share), count: counted(who.messages, "message") }), colour: colour(who.person) })), { shares: true }) : null,
    grid(side ? ["", ...heads] : ["", ...columns.map(([name]) => WORDING.columns[name])], rows, LABELS.figures, side ? "sides" : "many"), groupFigures(result));
}

function drawRhythm(result) {
  const { days, total } = result;
  show("rhythm", days.size > 0);
  if (!days.size) return;
  const parts = [], people = result.people.filter((who) => who.messages).map((who) => who.person);
  if (total.span > 6) {
    const full = [...days].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 10);
    parts.push(figure(LABELS.every_day, el("div", {}, calendar(days, total.first, total.last), heatKey()), [LABELS.fullest, WORDING.columns.messages], full.map(([day, count]) => [dated(day), commas(count)])));
  }
  const months = monthly(result);
  if (months.length > 1) {
    parts.push(figure(LABELS.monthly, el("div", {}, people.length > 1 ? legend(people) : null, monthChart(months, people)), [LABELS.month, ...people.map((person) => bdi(nameOf(person))), LABELS.together],
      months.map((entry) => [monthName(entry.month), ...people.map((person) => commas(entry.counts[person])), commas(sum(entry.counts))])));
  }
  parts.push(figure(LABELS.weekly, el("div", {}, weekChart(result.week), heatKey()), [LABELS.hour, ...WEEKDAYS.map(weekdayName)], Array.from({ length: 24 }, (_, hour) => [hourName(hour), ...result.week.map((day) => commas(day[hour]))])));
  const pauses = silences(days);
  if (pauses.length) parts.push(el("figure", {}, el("figcaption", {}, LABELS.silences), el("ol", { class: "plain-list" }, pauses.map((pause) => el("li", {}, el("strong", {}, counted(pause.days, "day")), ` ${say(LABELS.span, { from: dated(pause.from), to: dated(pause.to) })}`)))));
  put("rhythm-body", parts);
}
function silences(days) {
  const order = [...days.keys()].sort((a, b) => a - b), found = [];
  for (let at = 1; at < order.length; at++) if (order[at] - order[at - 1] > 2) found.push({ days: order[at] - order[at - 1] - 1, from: order[at - 1] + 1, to: order[at] - 1 });
  return found.sort((a, b) => b.days - a.days || a.from - b.from).slice(0, 5);
}
const heatKey = () => el("p", { class: "heat-key" }, `${LABELS.fewer} `, [0, 1, 2, 3, 4, 5].map((step) => el("span", { class: `swatch heat-${step}` })), ` ${LABELS.more}`);

// The sign that asks for the coloured form is left out of what is counted.
const coloured = (emoji) => ([...emoji].length === 1 ? `${emoji}\ufe0f` : emoji);

function drawWords(result) {
  if (!PARTS.words) return;
  const emoji = uses("emoji", result.own), laughter = uses("laughter", result.own), openings = uses("openings", result.own), domains = uses("domains", result.own);
  const typical = typicalWords(result), most = mostUsed(state);
  const people = result.people.filter((who) => who.messages && who.person !== OTHERS).sort((a, b) => b.messages - a.messages).slice(0, 8);
  const best = (used, person, least, most) => used.items.map((item, at) => ({ item, count: used.counts[at][person] })).filter((entry) => entry.count >= least).sort((a, b) => b.count - a.count).slice(0, most);
  const cards = people.map((who) => {
    const parts = [], words = typical[who.person] || [], faces = best(emoji, who.person, 1, 6), laughs = best(laughter, who.person, 1, 3), greets = best(openings, who.person, 3, 4), first = emoji.firsts[who.person];
    if (words.length) parts.push(el("h4", {}, LABELS.says_more), el("ul", { class: "chips" }, words.map((entry, at) => el("li", { class: at < 4 ? "strong" : "", title: say(LABELS.compared, { times: counted(entry.count, "time"), others: counted(entry.others, "time") }) }, bdi(entry.word)))));
    const { words: own, phrases } = most[who.person], used = (entries) => el("ul", { class: "chips" }, entries.map((entry) => el("li", {}, bdi(entry.item), " ", el("span", { class: "small" }, commas(entry.count)))));
    if (own.length) parts.push(el("h4", {}, LABELS.most_used), used(own));
    if (phrases.length) parts.push(el("h4", {}, LABELS.phrases), used(phrases));
    if (faces.length) parts.push(el("h4", {}, LABELS.most_emoji), el("ul", { class: "faces" }, faces.map((entry) => el("li", {}, el("span", { class: "face" }, coloured(entry.item)), el("span", { class: "small" }, commas(entry.count))))));
    if (first && faces.length) parts.push(el("p", { class: "small" }, pieces(LABELS.first_emoji, { emoji: el("span", { class: "emoji" }, coloured(emoji.items[first.item])), date: dated(first.day) })));
    const laughed = sum(laughter.counts.map((counts) => counts[who.person]));
    if (laughed) parts.push(el("h4", {}, LABELS.laughs), el("p", {}, say(LABELS.laughs_often, { n: (laughed / who.messages) * 100, hundred: commas(100), laugh: apart(laughs[0].item) }, 1)));
    if (greets.length) parts.push(el("h4", {}, LABELS.opening), el("p", {}, greets.map((entry, at) => [at ? LABELS.comma : "", pieces(LABELS.opening_times, { word: bdi(say(LABELS.quoted, { word: entry.item })), times: counted(entry.count, "time") })])));
    return parts.length ? el("article", { class: "person" }, el("h3", {}, el("span", { class: `dot fill-${colour(who.person)}`, "aria-hidden": "true" }), bdi(nameOf(who.person))), parts) : null;
  }).filter(Boolean);
  const sites = domains.items.map((item, at) => ({ name: item, value: sum(domains.counts[at]) })).filter((entry) => entry.value).sort((a, b) => b.value - a.value).slice(0, 10);
  show("words", !together() && cards.length + sites.length + LOOKUP.items.length > 0);
  const left = RAW.languages.length ? el("p", { class: "note" }, say(LABELS.left_out, { languages: RAW.languages.map(languageName).join(LABELS.comma) })) : null;
  put("words-body", cards.length ? left : null, cards.length ? el("div", { class: "people-cards" }, cards) : null, LOOKUP.items.length ? lookup() : null,
    sites.length ? el("figure", {}, el("figcaption", {}, LABELS.links_lead), bars(sites.map((entry) => ({ ...entry, text: commas(entry.value) })), { shares: false })) : null);
}

// A field for a word; what is typed stays while filters change.
function lookup() {
  const found = el("div", { id: "word-found", role: "status" }), words = WORDING.sentences;
  const field = el("input", { type: "search", id: "word", value: state.word ?? LOOKUP.items[0], autocomplete: "off", oninput: () => { state.word = field.value; look(); } });
  function look() {
    const word = field.value.trim(), course = word && courseOfWord(word, state);
    const values = { word: apart(course ? course.word : word), items: commas(LOOKUP.items.length), least: commas(PARTS.words.least[0]), sessions: commas(PARTS.words.least[1]) };
    if (!course) { found.replaceChildren(...(word ? [el("p", { class: "small" }, say(words.word_unknown, values))] : [])); return; }
    const said = say(words[state.from === null && state.to === null ? "word" : "word_touched"], { ...values, times: counted(course.total, "time") });
    const people = [...new Set(course.bins.flatMap((bin) => bin.counts.map((count, person) => (count ? person : -1))))].filter((person) => person >= 0).sort((a, b) => a - b);
    found.replaceChildren(...[el("p", { class: "small" }, said), people.length > 1 ? legend(people) : null, course.total && course.bins.length > 1 ? el("div", { class: "drawing" }, monthChart(course.bins, people, said, "time")) : null].filter(Boolean));
  }
  look();
  return el("figure", { class: "lookup" }, el("figcaption", {}, el("label", { for: "word" }, LABELS.look_up), " ", field), found);
}

const signed = (value) => figureAlone(`${value > 0 ? "+" : value < 0 ? "−" : ""}${decimal(Math.abs(value * 100), 0)}`);
const ranged = (entry, format) => (entry.value === null ? null : say(LABELS.ranged, { value: format(entry.value), low: format(entry.low), high: format(entry.high) }));
// Lines over time, as fine as the turns can carry: weeks before months, people before everyone.
function course(name, mask, lines, span) {
  const whole = [{ name: LABELS.everyone_chosen, colour: "all", people: null }], tries = [];
  for (const who of lines.length > 1 ? [lines, whole] : [whole]) {
    for (const bin of span > 182 ? [byMonth] : [byWeek, byMonth]) {
      const measuredLines = who.map((line) => ({ ...line, bins: measured(name, mask, line.people, bin) }));
      const filled = new Set(measuredLines.flatMap((line) => [...line.bins.keys()])), keys = unbroken(filled);
      const series = measuredLines.map((line) => ({ ...line, points: keys.map((key) => { const entry = line.bins.get(key); return entry && entry.value !== null ? entry : null; }) }));
      const points = sum(series.map((line) => line.points.filter(Boolean).length));
      tries.push({ keys, series, cover: points / (series.length * filled.size || 1), points });
    }
  }
  const usable = tries.filter((each) => each.points > each.series.length);
  return usable.find((each) => each.cover >= 0.6) || usable.sort((a, b) => b.cover - a.cover)[0] || null;
}
function drawFeelings(result) {
  if (!PARTS.emotions) return;
  const { own, total } = result, everyone = overall("mood", own);
  show("feelings", !together() && everyone.n > 0);
  if (!everyone.n) return;
  const people = result.people.filter((who) => who.messages && who.person !== OTHERS).sort((a, b) => b.messages - a.messages);
  const parts = [];
  if (everyone.value === null) {
    put("feelings-body", el("p", {}, say(LABELS.too_little, { turns: counted(everyone.n, "turn"), days: counted(everyone.days, "day"), least_turns: commas(WORDING.least.turns), least_days: commas(WORDING.least.days) })));
    return;
  }
  const lines = people.length > 1 && people.length <= 4 ? people.map((who) => ({ name: nameOf(who.person), colour: colour(who.person), people: new Set([who.person]) })) : [{ name: LABELS.everyone_chosen, colour: "all", people: null }];
  if (total.first !== null && total.first !== total.last) {
    const dated_ = own.map((yes, row) => yes && ROWS.day[row] >= 0);
    for (const [name, caption, format, range] of [["mood", LABELS.mood, signed, [-1, 1]], ["intimacy", LABELS.intimacy, (value) => decimal(value * 100, 0), [0, 1]], ["empathy", LABELS.empathy, (value) => decimal(value, 2), [0, 6]]]) {
      const found = course(name, dated_, lines, total.span);
      if (!found) continue;
      const { keys, series } = found;
      parts.push(figure(caption, el("div", {}, series.length > 1 ? legend(people.map((who) => who.person)) : null, lineChart(caption, keys, series, range, format)), [LABELS.when, ...series.map((line) => bdi(line.name))],
        keys.map((key, at) => [binName(key), ...series.map((line) => (line.points[at] ? ranged(line.points[at], format) : line.bins.has(key) ? LABELS.too_few : LABELS.no_turn))]), LABELS.bands));
    }
  }
  const emotions = uses("emotions", own), felt = sum(emotions.counts.map(sum));
  const kinds = emotions.items.map((item, at) => ({ name: WORDING.emotions[item], value: sum(emotions.counts[at]) / felt, text: percent(sum(emotions.counts[at]) / felt) })).filter((entry) => entry.value > 0).sort((a, b) => b.value - a.value);
  if (kinds.length) parts.push(el("figure", {}, el("figcaption", {}, say(LABELS.sounds_like, { turns: counted(felt, "turn") })), bars(kinds, { shares: true })));
  const shown = people.slice(0, 13), scores = shown.map((who) => { const only = new Set([who.person]); return Object.fromEntries(Object.keys(MEASURES).map((name) => [name, overall(name, own, only)])); });
  if (scores.some((score) => score.mood.value !== null)) {
    const plain = (value) => decimal(value, 2), hundred = (value) => decimal(value * 100, 0);
    const rows = [[LABELS.labelled, (score) => commas(score.mood.n)], [LABELS.positive, (score) => ranged(score.positive, percent)], [LABELS.negative, (score) => ranged(score.negative, percent)], [LABELS.personal, (score) => ranged(score.intimacy, hundred)], [LABELS.tunes_in, (score) => ranged(score.empathy, plain)], [LABELS.tunes_in_low, (score) => ranged(score.low, plain)], [LABELS.tunes_in_other, (score) => ranged(score.other, plain)]]
      .map(([name, of]) => [name, ...scores.map(of)]).filter((row) => row.slice(1).some((cell) => cell !== null));
    parts.push(el("figure", {}, el("figcaption", {}, LABELS.by_person), grid(["", ...shown.map((who) => bdi(nameOf(who.person)))], rows.map((row) => row.map((cell) => cell ?? LABELS.too_few)), LABELS.feelings_by_person, "sides")));
  }
  const days = standingOut(own), bright = days.filter((entry) => entry.z > 0).slice(0, 3), dark = days.filter((entry) => entry.z < 0).slice(-3).reverse();
  const line = (entry) => el("li", {}, el("strong", {}, dated(entry.day)), ` ${say(LABELS.day_mood, { mood: signed(entry.mood), hundred: commas(100), turns: counted(entry.n, "turn") })}`);
  if (days.length && RAW.claims) parts.push(el("figure", {}, el("figcaption", {}, LABELS.stand_out), el("div", { class: "two" }, bright.length ? el("div", {}, el("h4", {}, LABELS.brighter), el("ol", { class: "plain-list" }, bright.map(line))) : null, dark.length ? el("div", {}, el("h4", {}, LABELS.darker), el("ol", { class: "plain-list" }, dark.map(line))) : null)));
  put("feelings-body", parts);
}

function draw() {
  const result = figures(state);
  put("heading", bdi(headingOf()));
  show("names-held", state.hidden);
  document.title = `${headingOf()} · realtalk`;
  drawChats((chat) => { state.chat = state.chat === chat ? null : chat; byId("filter-chat").value = state.chat ?? ""; draw(); });
  drawGlance(result); drawPeople(result); drawRhythm(result); drawWords(result); drawFeelings(result);
  showCard(result);
  const period = state.from === null && state.to === null ? LABELS.showing_all : say(LABELS.span, { from: dated(state.from ?? 0), to: dated(state.to ?? LAST_DAY) });
  const who = state.people && state.people.length ? state.people.map((person) => saidName(person)).join(LABELS.comma) : LABELS.showing_everyone;
  byId("selection").textContent = say(LABELS.showing, { who, period, messages: counted(result.total.messages, "message") });
  for (const link of document.querySelectorAll("nav.sections a")) link.hidden = byId(link.hash.slice(1)).hidden;
}

function filters() {
  const several = PEOPLE > 1;
  const chip = (person) => el("button", { type: "button", class: "chip", "aria-pressed": "false", "data-person": person, onclick: () => toggle(person) }, el("span", { class: `dot fill-${colour(person)}`, "aria-hidden": "true" }), bdi(nameOf(person)));
  const chips = () => put("filter-people", el("button", { type: "button", class: "chip", "data-person": "", onclick: () => { state.people = null; update(); } }, LABELS.everyone), Array.from({ length: PEOPLE }, (_, person) => chip(person)));
  function toggle(person) {
    const now = new Set(state.people || []);
    if (!now.delete(person)) now.add(person);
    state.people = now.size && now.size < PEOPLE ? [...now].sort((a, b) => a - b) : null;
    update();
  }
  function update() {
    for (const button of byId("filter-people").children) {
      const person = button.dataset.person;
      button.setAttribute("aria-pressed", String(person === "" ? !state.people : Boolean(state.people && state.people.includes(Number(person)))));
    }
    draw();
  }
  function chatNames() {
    const names = RAW.chats.map((_, at) => el("option", { value: at, selected: state.chat === at }, chatName(at)));
    if (RAW.other_chats) names.push(el("option", { value: RAW.chats.length }, counted(RAW.other_chats, "other_chat")));
    put("filter-chat", el("option", { value: "" }, LABELS.all_chats), names);
  }
  chips();
  chatNames();
  show("filter-people-group", several);
  if (RAW.chats.length > 1) {
    byId("filter-chat").onchange = (event) => { state.chat = event.target.value === "" ? null : Number(event.target.value); draw(); };
  }
  show("filter-chat-group", RAW.chats.length > 1);
  show("filter-time-group", LAST_DAY > 0);
  if (LAST_DAY > 0) {
    const from = byId("filter-from"), to = byId("filter-to");
    for (const input of [from, to]) { input.min = isoOf(0); input.max = isoOf(LAST_DAY); }
    from.value = isoOf(0); to.value = isoOf(LAST_DAY);
    const read = () => {
      const low = from.value ? Math.max(0, dayOf(from.value)) : 0, high = to.value ? Math.min(LAST_DAY, dayOf(to.value)) : LAST_DAY;
      const whole = low === 0 && high === LAST_DAY;
      state.from = whole ? null : low; state.to = whole ? null : high;
      draw();
    };
    from.onchange = to.onchange = read;
    const years = [...new Set([dateOf(0).getUTCFullYear(), ...ROWS.day.filter((day) => day >= 0).map((day) => dateOf(day).getUTCFullYear())])].sort();
    put("filter-period", el("option", { value: "" }, LABELS.all_time), years.length > 1 ? years.map((year) => el("option", { value: `${year}-01-01/${year}-12-31` }, plainYear(year))) : null,
      [30, 90, 365].filter((days) => days < LAST_DAY).map((days) => el("option", { value: `${isoOf(LAST_DAY - days + 1)}/${isoOf(LAST_DAY)}` }, say(LABELS.last_days, { n: days }))));
    byId("filter-period").onchange = (event) => {
      const [low, high] = event.target.value ? event.target.value.split("/") : [isoOf(0), isoOf(LAST_DAY)];
      from.value = low < isoOf(0) ? isoOf(0) : low; to.value = high > isoOf(LAST_DAY) ? isoOf(LAST_DAY) : high;
      read();
    };
  }
  byId("hide-names").onchange = (event) => { state.hidden = event.target.checked; chips(); chatNames(); update(); };
  update();
}

byId("card-names").onchange = () => showCard(figures(state));
byId("card-svg").onclick = () => saveCard("svg");
byId("card-png").onclick = () => saveCard("png");
show("hide-names-group", !RAW.anonymous);
show("card-names-group", !RAW.anonymous);
localise();
window.realtalk = { figures, mostUsed, courseOfWord, glance, typicalWords, overall, monthly, standingOut, uses, card, cardText: pictureText, headingOf, state };
let resized = 0, drawnFor = chartWidth();
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => { if (chartWidth() !== drawnFor) { drawnFor = chartWidth(); draw(); } }, 150);
});
filters();
