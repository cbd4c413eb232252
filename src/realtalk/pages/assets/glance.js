// Figures → sentences with one large number each; and the card that can be shared.
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const state = { people: null, chat: null, from: null, to: null, hidden: false, word: null };
const OTHERS = RAW.others ? RAW.people.length : -1;
function nameOf(person, hidden = state.hidden) {
  if (person === OTHERS) return counted(RAW.others, "other");
  return hidden ? `Person ${LETTERS[person]}` : RAW.people[person];
}
const saidName = (person, hidden = state.hidden) => apart(nameOf(person, hidden));  // within a sentence
const colour = (person) => (person === OTHERS ? "others" : String(person % 13));
const CHATS = RAW.chats.length + RAW.other_chats;
const joined = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names[0]);
// Whoever has the figure; those who share it, as far as it is shown, are named together.
function holders(entries, figure, name) {
  const equal = entries.filter((who) => figure(who) === figure(entries[0]));
  if (equal.length === 1) return name(entries[0].person);
  return `each of ${equal.length > 3 ? `${commas(equal.length)} people` : joined(equal.map((who) => name(who.person)))}`;
}
const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// [{id, figure, text}], in the order of the page; a sentence that nothing carries is not made.
function glance(result, hidden = state.hidden) {
  const { total, people } = result, words = WORDING.sentences, found = [];
  if (!total.messages) return found;
  const name = (person) => saidName(person, hidden);
  // Of several chats the figures are of all together, also of those that a person is not in.
  const several = CHATS > 1 && state.chat === null, chats = several ? ` of the ${commas(CHATS)} chats together` : "";
  const of = (several ? ` in any of the ${commas(CHATS)} chats` : "") + (state.people && state.people.length ? " from those you chose" : "");
  const writing = people.filter((who) => who.messages);
  const count = total.people + (RAW.others && writing.some((who) => who.person === OTHERS) ? RAW.others - 1 : 0);
  const by = count === 1 ? name(writing[0].person) : `${commas(count)} people`;
  const size = RAW.spaceless ? counted(total.characters, "character") : counted(total.words, "word");
  const kind = total.first === null ? "messages" : total.first === total.last ? "messages_day" : "messages_since";
  found.push({ id: "messages", figure: commas(total.messages), text: fill(words[kind], {
    messages: `${total.messages === 1 ? "message" : "messages"}, ${size},`, people: by + (several && !state.people && state.from === null && state.to === null ? ` in ${commas(CHATS)} chats` : ""),
    first: total.first === null ? "" : dated(total.first), last: total.last === null ? "" : dated(total.last) }) });
  const named = people.filter((who) => who.person !== OTHERS);
  if (named.length && state.people && state.people.length) {
    for (const who of named.slice(0, 2)) if (who.messages < total.all) found.push({ id: "share", figure: percent(who.share), text: fill(words.share_of_all, { name: name(who.person) }) });
  } else if (named.length > 1) {
    const order = [...named].sort((a, b) => b.messages - a.messages || a.person - b.person), shown = (who) => percent(who.share);
    found.push({ id: "share", figure: shown(order[0]), text: fill(words.share, { chats, name: holders(order, shown, name) }) });
  }
  if (named.length > 1 && total.starts >= WORDING.least.sessions) {
    const order = [...named].sort((a, b) => b.starts - a.starts || a.person - b.person), shown = (who) => percent(who.started);
    found.push({ id: "starts", figure: shown(order[0]), text: fill(words.starts, { conversations: counted(total.starts, "conversation"), chats, name: holders(order, shown, name) }) });
  }
  const answering = named.filter((who) => who.replies >= WORDING.least.replies).sort((a, b) => a.reply - b.reply || a.person - b.person);
  if (answering.length) {
    const [first, second] = answering, shown = (who) => waited(who.reply), time = shown(answering[answering.length - 1]);
    const kind = time === shown(first) ? "reply" : second && answering.length === 2 ? "reply_two" : "reply_least";
    found.push({ id: "reply", figure: shown(first), text: fill(words[kind], {
      name: holders(answering, shown, name), other: second ? name(second.person) : "", time, count: commas(answering.length) }) });
  }
  for (const [id, least] of [["streak", 2], ["silence", WORDING.least.silence]]) {
    const span = result[id];
    if (span && span.days >= least) found.push({ id, figure: counted(span.days, "day"), text: fill(words[span.times > 1 ? `${id}_several` : id], { of, times: commas(span.times), from: dated(span.from), to: dated(span.to) }) });
  }
  const { busiest } = result;
  if (busiest && busiest.times < total.active) found.push({ id: "busiest", figure: counted(busiest.messages, "message"), text: fill(words[busiest.times > 1 ? "busiest_several" : "busiest"], { times: commas(busiest.times), date: dated(busiest.day) }) });
  if (PARTS.emotions && RAW.claims) {
    const mood = overall("positive", result.own), negative = overall("negative", result.own);
    if (mood.value !== null) found.push({ id: "mood", figure: percent(mood.value), text: fill(words.mood, { turns: counted(mood.n, "turn"), negative: percent(negative.value) }) });
  }
  return found.slice(0, 8);
}

// The glance as one picture of 1080 by 1350 points, text as text.
function card(items, heading) {
  const W = 1080, H = 1350, font = "Georgia, 'Noto Serif', serif", plain = "'Helvetica Neue', Arial, 'Noto Sans', sans-serif";
  const rows = items.slice(0, 6), step = 172;
  const wrapped = (text, most) => text.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    if (last && (last + " " + word).length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
    return lines;
  }, []).map((line, at, lines) => (at === 1 && lines.length > 2 ? `${line} …` : line)).slice(0, 2);
  const text = (x, y, size, family, colour_, content, weight = 400) => svg("text", { x, y, "font-size": size, "font-family": family, fill: colour_, "font-weight": weight }, content);
  return svg("svg", { xmlns: SVG, viewBox: `0 0 ${W} ${H}`, width: W, height: H },
    svg("rect", { width: W, height: H, fill: "#fbf8f2" }), svg("rect", { width: W, height: 16, fill: "#0a6e8f" }),
    wrapped(heading, 36).map((line, at) => text(80, 130 + at * 62, 52, font, "#1c1f24", line, 700)),
    rows.flatMap((item, at) => [text(80, 290 + at * step, 64, font, "#0a6e8f", item.figure, 700),
      ...wrapped(item.text, 52).map((line, row) => text(80, 336 + at * step + row * 38, 30, plain, "#3c434c", line))]),
    text(80, H - 44, 26, plain, "#6b727b", "made with realtalk, on one's own machine"));
}
function saveCard(kind) {
  const shown = byId("card-names").checked && !RAW.anonymous;
  // Whoever gets it may read another language than whoever saves it.
  savePicture("chat-card", kind, inEnglish(() => card(glance(figures(state), !shown), headingOf(!shown))));
}
function headingOf(hidden = state.hidden) {
  if (RAW.title && !hidden) return RAW.title;
  const named = RAW.people.map((_, person) => saidName(person, hidden));
  const of = CHATS > 1 ? `${commas(CHATS)} chats of ` : "";
  if (hidden || !named.length) return CHATS > 1 ? `${commas(CHATS)} chats, measured` : RAW.people.length === 2 ? "Two people and their chat" : RAW.people.length === 1 ? "One person's chat" : "A chat, measured";
  if (named.length + RAW.others > 3) return `${of}${named.slice(0, 2).join(", ")} and ${commas(named.length + RAW.others - 2)} others`;
  return of + joined(named);
}
