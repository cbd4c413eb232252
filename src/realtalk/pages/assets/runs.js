// The page of tables and charts: contents, sorting, finding, saving, and what a mark says.
(() => {
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  // As they were made, in English: what is saved is for others, too.
  const drawings = new Map(all("figure.chart").map((figure) => [figure, figure.querySelector("svg").cloneNode(true)]));

  // ---- contents
  const contents = document.querySelector(".contents details");
  if (matchMedia("(max-width: 60rem)").matches) contents.open = false;
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && matchMedia("(max-width: 60rem)").matches) contents.open = false;
  });
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target);
    const first = all("main section").find((section) => seen.has(section));
    for (const [id, link] of links) {
      if (first && id === first.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-15% 0px -60% 0px" });
  all("main section").forEach((section) => watch.observe(section));

  // ---- axes: numbers, months and weekdays as the reader writes them; names stay
  const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const axisWords = (words, isWeekly) => {
    if (/^(?:median )?[+\-−]?[\d,.]+(?: ?%| (?:s|min|h|days?))?$/.test(words)) return rewritten(words);
    const [, day, month, year] = /^(\d\d? )?([A-Z][a-z]{2}) (\d{4})$/.exec(words) || [];
    if (MONTHS.includes(month)) {
      const parts = { month: "short", year: "numeric", ...(day ? { day: "numeric" } : {}) };
      return clock(new Date(Date.UTC(year, MONTHS.indexOf(month), day || 1)), parts);
    }
    return isWeekly && DAYS.includes(words) ? dayOfWeek(DAYS.indexOf(words), "long") : words;
  };
  for (const plot of isEnglish() ? [] : all(".plot")) {
    const texts = all("text", plot);
    const isWeekly = DAYS.every((day) => texts.some((text) => text.textContent === day));  // else somebody may be called Sunday
    for (const text of texts) if (!text.children.length) text.textContent = axisWords(text.textContent, isWeekly);
  }

  // ---- tables
  const NUMBER = /^[<>= ]*([+\-−]?(?:\d[\d,]*)?\.?\d+)/;
  localise();
  const textOf = (cell) => (cell.dataset.en ?? cell.textContent).trim();  // as it was written, in English
  const numberOf = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const found = NUMBER.exec(textOf(cell));
    return found ? Number(found[1].replace(/,/g, "").replace("−", "-")) : null;
  };
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const orders = new WeakMap();
  const sort = (head) => {
    const table = head.closest("table");
    const body = table.tBodies[0];
    if (!orders.has(table)) orders.set(table, [...body.rows]);
    const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
    all("thead th", table).forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", next);
    const rows = [...orders.get(table)];
    if (next !== "none") {
      const at = head.cellIndex;
      const sign = next === "ascending" ? 1 : -1;
      const numeric = head.classList.contains("num");
      const key = (row) => {
        const cell = row.cells[at];
        if (cell.classList.contains("none") || ["", "–"].includes(textOf(cell))) return null;
        return numeric ? numberOf(cell) : textOf(cell);
      };
      const keyed = rows.map((row) => [key(row), row]);
      // What has no value stands last whichever way one sorts.
      keyed.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return sign * (numeric ? a - b : words.compare(a, b));
      });
      rows.splice(0, rows.length, ...keyed.map(([, row]) => row));
    }
    body.append(...rows);
  };
  // The rows with what is typed; "/" goes to the field of the table that is in view.
  const fields = all("[data-find]");
  const find = (field) => {
    const box = field.closest(".table");
    const wanted = field.value.trim().toLowerCase();
    const rows = [...box.querySelector("table").tBodies[0].rows];
    for (const row of rows) row.hidden = ![...row.cells].some((cell) => `${textOf(cell)}\n${cell.textContent}`.toLowerCase().includes(wanted));
    const left = rows.filter((row) => !row.hidden).length;
    box.querySelector(".found").textContent = wanted ? `${commas(left)} of ${commas(rows.length)}` : "";
  };
  for (const field of fields) {
    field.addEventListener("input", () => find(field));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { field.value = ""; find(field); }
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const field = fields.find((each) => each.closest(".table").getBoundingClientRect().bottom > 120);
    if (field) { event.preventDefault(); field.focus(); }
  });
  // A shadow says that a table or a chart goes on to the right.
  const cut = (box) => box.classList.toggle("cut", box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
  const boxes = all(".scroll, .plot");
  boxes.forEach((box) => { cut(box); box.addEventListener("scroll", () => cut(box), { passive: true }); });
  addEventListener("resize", () => boxes.forEach(cut));
  // A spreadsheet would run a cell that begins like a formula.
  const plain = (text) => (/^[=@\t\r]|^[+\-](?![\d.])/.test(text) ? `'${text}` : text);
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const valueOf = (cell) => {
    if (cell.classList.contains("none")) return "";
    if (cell.dataset.v !== undefined) return cell.dataset.v;
    const text = textOf(cell);
    return cell.classList.contains("num") && /^[+\-]?\d[\d,]*$/.test(text) ? text.replace(/,/g, "") : plain(text);
  };
  const csv = (table) => {
    const heads = all("thead th button", table).map((head) => plain(head.textContent));
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(valueOf));
    return [heads, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  };

  // ---- saving
  const stem = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "figure";
  const titleOf = (box) => box.querySelector(".title").firstElementChild.textContent;
  // A picture alone has no page around it: it gets its title, and paper.
  const saveChart = (figure, kind) => {
    const title = titleOf(figure), drawing = drawings.get(figure).cloneNode(true);
    const { width, height } = drawing.viewBox.baseVal, wide = Math.max(width, 9 * title.length) + 28, high = height + 64;
    for (const [name, value] of Object.entries({ viewBox: `-14 -48 ${wide} ${high}`, width: wide, height: high, "font-family": "DejaVu Sans, Verdana, Arial, sans-serif" })) drawing.setAttribute(name, value);
    drawing.prepend(svg("rect", { x: -14, y: -48, width: wide, height: high, fill: "white" }), svg("text", { x: 0, y: -20, "font-size": 17, "font-weight": 600 }, title));
    savePicture(stem(title), kind, drawing, 2);
  };

  // ---- what a mark says
  const tip = el("div", { id: "tip", hidden: true });
  document.body.append(tip);
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.replaceChildren(...mark.dataset.tip.split("\u241f").map((line) => el("div", {}, rewritten(line))));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
    tip.style.top = `${event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16}px`;
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("thead th");
    if (head) { sort(head); return; }
    const ending = button.dataset.save;
    if (ending === "csv") {
      const box = button.closest(".table");
      save(`${stem(titleOf(box))}.csv`, new Blob([csv(box.querySelector("table"))], { type: "text/csv" }));
    } else if (ending) {
      saveChart(button.closest("figure"), ending);
    }
  });
})();
