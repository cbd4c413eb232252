// Figures → sentences with one large number each; and the card that can be shared.
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const state = { people: null, chat: null, from: null, to: null, hidden: false, word: null };
const OTHERS = RAW.others ? RAW.people.length : -1;
function nameOf(person, hidden = state.hidden) {
  if (person === OTHERS) return counted(RAW.others, "other");
  return hidden ? say(LABELS.person, { letter: LETTERS[person] }) : RAW.people[person];
}
const saidName = (person, hidden = state.hidden) => apart(nameOf(person, hidden));  // within a sentence
const colour = (person) => (person === OTHERS ? "others" : String(person % 13));
const CHATS = RAW.chats.length + RAW.other_chats;
// Those who share the first figure, as far as it is shown.
function holders(entries, figure, name) {
  const equal = entries.filter((who) => figure(who) === figure(entries[0]));
  return { equal: equal.length, names: equal.length > 3 ? counted(equal.length, "people") : joined(equal.map((who) => name(who.person))) };
}
// Whether a share is near that of each of so many equals, or could well be so by chance.
function isExpected(count, total, people) {
  const even = 1 / people, share = count / total;
  return share < even * WORDING.least.telling || share - even < 1.96 * Math.sqrt((even * (1 - even)) / total);
}

// [{id, figure, text}], in the order of the page; a sentence that nothing carries is not made.
function glance(result, hidden = state.hidden) {
  const { total, people } = result, words = WORDING.sentences, found = [];
  if (!total.messages) return found;
  const name = (person) => saidName(person, hidden);
  // Of several chats nothing is said that would add people up as if they were one group.
  const several = CHATS > 1 && state.chat === null, chosen = Boolean(state.people && state.people.length), chats = commas(CHATS), least = WORDING.least;
  const writing = people.filter((who) => who.messages);
  const count = total.people + (RAW.others && writing.some((who) => who.person === OTHERS) ? RAW.others - 1 : 0);
  const by = count === 1 ? name(writing[0].person) : counted(count, "from_people");
  const size = RAW.spaceless ? counted(total.characters, "character") : counted(total.words, "word");
  const kind = total.first === null ? "messages" : total.first === total.last ? "messages_day" : "messages_since";
  found.push({ id: "messages", figure: commas(total.messages), text: say(words[several && !chosen && state.from === null && state.to === null ? `${kind}_chats` : kind], { chats,
    messages: counted(total.messages, "messages"), size, people: by,
    first: total.first === null ? "" : dated(total.first), last: total.last === null ? "" : dated(total.last) }) });
  const named = people.filter((who) => who.person !== OTHERS), told = several ? [] : named;
  if (told.length && chosen) {
    for (const who of told.slice(0, 2)) if (who.messages < total.all) found.push({ id: "share", figure: percent(who.share), text: say(words.share_of_all, { name: name(who.person) }) });
  }
  for (const [id, column, share, enough] of [["share", "messages", "share", !chosen], ["starts", "starts", "started", total.starts >= least.sessions]]) {
    if (told.length < 2 || !enough) continue;
    const order = [...told].sort((a, b) => b[column] - a[column] || a.person - b.person), shown = (who) => percent(who[share]), { equal, names } = holders(order, shown, name);
    found.push({ id, figure: equal > 1 ? words.tie : shown(order[0]), whole: equal > 1, weak: isExpected(order[0][column], total[column], count),
      text: say(words[equal > 1 ? `${id}_tie` : id], { conversations: counted(total.starts, "conversation"), name: names, names, share: shown(order[0]) }) });
  }
  const answering = told.filter((who) => who.replies >= least.replies).sort((a, b) => a.reply - b.reply || a.person - b.person);
  if (answering.length) {
    const shown = (who) => waited(who.reply), within = (who) => waited(who.reply, "within"), last = answering[answering.length - 1], { equal, names } = holders(answering, shown, name);
    const kind = equal === answering.length ? { 1: "reply", 2: "reply_both" }[equal] || "reply_all" : answering.length === 2 ? "reply_two" : equal > 1 ? "reply_least_tie" : "reply_least";
    found.push({ id: "reply", figure: shown(answering[0]), whole: true, text: say(words[kind], {
      names, time: within(answering[0]), other: name(last.person), later: within(last), count: commas(answering.length) }) });
  }
  for (const [id, days] of [["streak", 2], ["silence", least.silence]]) {
    const span = result[id];
    if (span && span.days >= days) found.push({ id, figure: counted(span.days, "day"), text: say(words[`${id}${chosen ? "_chosen" : several ? "_chats" : ""}${span.times > 1 ? "_several" : ""}`], { chats, times: counted(span.times, "time"), from: dated(span.from), to: dated(span.to) }) });
  }
  const { busiest } = result;
  if (busiest && busiest.times < total.active) found.push({ id: "busiest", figure: counted(busiest.messages, "message"), text: say(words[busiest.times > 1 ? "busiest_several" : "busiest"], { days: commas(busiest.times), date: dated(busiest.day) }) });
  if (PARTS.emotions && RAW.claims) {
    const mood = overall("positive", result.own), negative = overall("negative", result.own);
    if (mood.value !== null) found.push({ id: "mood", figure: percent(mood.value), text: say(words.mood, { turns: counted(mood.n, "turn"), negative: percent(negative.value) }) });
  }
  const writers = told.filter((who) => who.messages >= least.messages), rate = (who, column) => who[column] / who.messages;
  for (const [id, column, enough, shown] of [["length", "words", !RAW.spaceless, (value) => counted(Math.round(value * 10) / 10, "word", 1)], ["question", "question", sum(writers.map((who) => who.question)) >= least.questions, percent]]) {
    const order = [...writers].sort((a, b) => rate(b, column) - rate(a, column) || a.person - b.person), [first, last] = [order[0], order[order.length - 1]];
    if (order.length > 1 && enough && rate(first, column) > 0 && rate(first, column) >= rate(last, column) * least[id]) found.push({ id, figure: shown(rate(first, column)), text: say(words[id], { name: name(first.person), other: name(last.person), less: shown(rate(last, column)) }) });
  }
  const week = new Array(7).fill(0);
  for (const [day, messages] of result.days) week[(dateOf(day).getUTCDay() + 6) % 7] += messages;
  const all = sum(week), top = week.indexOf(Math.max(...week));
  if (total.span >= least.weeks && all >= least.messages && week[top] * 7 >= all * least.weekday) found.push({ id: "weekday", figure: percent(week[top] / all), text: say(words.weekday, { weekday: weekdayName(top) }) });
  return [...found.filter((item) => !item.weak), ...found.filter((item) => item.weak)].slice(0, 8);
}

// The glance as one picture of 1080 by 1350 points, text as text, on light paper whatever the page shows.
const onPaper = (name) => [...document.styleSheets[0].cssRules].find((rule) => rule.style && rule.style.getPropertyValue("--p0")).style.getPropertyValue(`--${name}`).trim();
const CARD = 1080, fromSide = (x, width = 0) => (RTL ? CARD - x - width : x);
function card(result, hidden) {
  const W = CARD, H = 1350, LEFT = 80, WIDE = 920, font = "Georgia, 'Noto Serif', serif", plain = "'Helvetica Neue', Arial, 'Noto Sans', sans-serif", step = 154;
  const between = PAGE === "ja" ? "" : " ", wide = between ? 1 : 0.6;  // signs as wide as high, and no spaces
  const wrapped = (text, most) => text.split(between).reduce((lines, word) => {
    const last = lines[lines.length - 1];
    if (last && (last + between + word).length <= most * wide) lines[lines.length - 1] = last + between + word;
    else lines.push(word);
    return lines;
  }, []).map((line, at, lines) => (at === 1 && lines.length > 2 ? `${line} …` : line)).slice(0, 2);
  const text = (x, y, size, family, colour_, content, weight = 400) => svg("text", { x: fromSide(x), y, direction: RTL ? "rtl" : null, "font-size": size, "font-family": family, fill: colour_, "font-weight": weight }, content);
  const heading = headingOf(hidden), people = together() ? [] : cardPeople(result, hidden, LEFT, 218, WIDE, (x, y, content) => text(x, y, 26, plain, "#3c434c", content));
  const first = people.length ? 372 : 300, rows = glance(result, hidden).slice(0, 5);
  return svg("svg", { xmlns: SVG, viewBox: `0 0 ${W} ${H}`, width: W, height: H },
    svg("rect", { width: W, height: H, fill: "#fbf8f2" }), svg("rect", { width: W, height: 16, fill: "#0a6e8f" }),
    wrapped(heading, 36).map((line, at) => text(LEFT, 130 + at * 62, 52, font, "#1c1f24", line, 700)), people,
    rows.flatMap((item, at) => [text(LEFT, first + at * step, 58, font, "#0a6e8f", item.figure, 700),
      ...wrapped(item.text, 56).map((line, row) => text(LEFT, first + 42 + at * step + row * 36, 28, plain, "#3c434c", line))]),
    cardCalendar(result, LEFT, 1120, WIDE, (x, y, content) => text(x, y, 22, plain, "#6b727b", content)),
    text(LEFT, H - 36, 24, plain, "#6b727b", LABELS.made_with));
}
// Who wrote how much, as one bar in people's colours.
function cardPeople(result, hidden, left, top, wide, text) {
  const people = result.people.filter((who) => who.messages).sort((a, b) => b.messages - a.messages), all = sum(people.map((who) => who.messages)), made = [];
  const paint = (who) => onPaper(who.person === OTHERS ? "others" : `p${colour(who.person)}`);
  if (people.length < 2) return made;
  let x = left, place = left;
  for (const who of people) {
    const width = (who.messages / all) * wide, name = [...nameOf(who.person, hidden)], label = apart(name.length > 20 ? `${name.slice(0, 19).join("")}…` : name.join(""));
    made.push(svg("rect", { x: fromSide(x, Math.max(1, width - 3)), y: top, width: Math.max(1, width - 3), height: 22, rx: 4, fill: paint(who) }));
    x += width;
    if (place + 40 + label.length * 15 > left + wide) continue;
    made.push(svg("circle", { cx: fromSide(place + 9), cy: top + 54, r: 9, fill: paint(who) }), text(place + 28, top + 63, label));
    place += 60 + label.length * 15;
  }
  return made;
}
// A square for each day of up to a year, else for each month of the last years; darker means more.
function cardCalendar(result, left, top, wide, text) {
  const { days, total } = result, squares = new Map(), made = [];
  if (total.first === null || total.first === total.last) return made;
  const short = total.last - total.first < 371, lead = (dateOf(total.first).getUTCDay() + 6) % 7, year = (day) => dateOf(day).getUTCFullYear(), oldest = Math.max(year(total.first), year(total.last) - 6);
  for (let day = total.first; day <= total.last; day++) {
    const at = day - total.first + lead, [column, row] = short ? [Math.floor(at / 7), at % 7] : [dateOf(day).getUTCMonth(), year(day) - oldest];
    if (row >= 0) squares.set(column * 7 + row, (squares.get(column * 7 + row) || 0) + (days.get(day) || 0));
  }
  const most = Math.max(...squares.values()), start = left + (short ? 0 : 70), columns = short ? Math.floor((total.last - total.first + lead) / 7) + 1 : 12;
  const across = Math.min(short ? 18 : 66, (left + wide - start) / columns);
  for (const [key, count] of squares) made.push(svg("rect", { x: fromSide(start + Math.floor(key / 7) * across, across - 3), y: top + (key % 7) * 18, width: across - 3, height: 15, rx: 3, fill: onPaper(`heat-${tone(Math.sqrt(count / most))}`) }));
  if (!short) for (let row = oldest; row <= year(total.last); row++) made.push(text(left, top + (row - oldest) * 18 + 14, plainYear(row)));
  made.push(text(left, top + 7 * 18 + 30, `${WORDING.columns.messages}: ${say(LABELS.span, { from: dated(total.first), to: dated(total.last) })}`));
  return made;
}
// Whoever gets it may read another language than whoever saves it.
const cardNow = (result) => inHouse(() => card(result, !byId("card-names").checked || RAW.anonymous));
// As a picture, so that it looks as it is saved: the page's own style does not reach into it.
const showCard = (result) => put("card-view", el("img", { src: pictureAddress(pictureText(cardNow(result))), alt: headingOf(!byId("card-names").checked || RAW.anonymous) }));
const saveCard = (kind) => savePicture("chat-card", kind, cardNow(figures(state)));
function headingOf(hidden = state.hidden) {
  if (RAW.title && !hidden) return RAW.title;
  const one = CHATS === 1 ? 0 : state.chat, chat = one === null ? null : chatList().find((entry) => entry.chat === one), group = chat && chat.people.size > 2;
  if (chat && !hidden && one < RAW.chats.length) {  // a group has its own name
    if (group) return apart(RAW.chats[one]);
    if (CHATS > 1) return joined([...chat.people.keys()].sort((a, b) => a - b).map((person) => saidName(person)));
  }
  const named = RAW.people.map((_, person) => saidName(person, hidden));
  const chats = counted(CHATS, "chat"), others = named.length + RAW.others - 2;
  if (hidden || !named.length) return CHATS > 1 ? say(LABELS.chats_measured, { chats }) : RAW.people.length === 2 ? LABELS.two_people : RAW.people.length === 1 ? LABELS.one_person : WORDING.page.title;
  const names = others > 1 ? say(LABELS.and_others, { names: named.slice(0, 2).join(LABELS.comma), others: counted(others, "other") }) : joined(named);
  return CHATS > 1 ? say(LABELS.chats_of, { chats, names }) : names;
}
