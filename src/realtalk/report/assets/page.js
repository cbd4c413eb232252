// Sorting, saving, light and dark, and charts that are drawn when they come into view.
(() => {
  const root = document.documentElement;
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const system = matchMedia("(prefers-color-scheme: dark)");

  // ---- light and dark
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const remember = (theme) => {
    // A page opened from a file may have no storage; it then forgets, and works.
    try { localStorage.setItem("realtalk-theme", theme); } catch { /* no storage */ }
  };
  const recalled = () => {
    try { return localStorage.getItem("realtalk-theme"); } catch { return null; }
  };
  const named = () => {
    document.getElementById("theme-name").textContent = isDark() ? "Light" : "Dark";
  };
  if (["light", "dark"].includes(recalled())) root.dataset.theme = recalled();
  named();
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    named();
    redraw();
  });
  system.addEventListener("change", () => { named(); redraw(); });
  document.getElementById("print").addEventListener("click", () => print());

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
  // A shadow says that a table goes on to the right.
  const cut = (box) => box.classList.toggle("cut", box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
  const boxes = all(".scroll");
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
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // ---- charts
  // The colours of figures on white paper, and what they become on dark.
  const DARK = new Map(Object.entries({
    "#ffffff": "#1a1f26", white: "#1a1f26", "#000000": "#e8e6e1", black: "#e8e6e1",
    "#222222": "#e8e6e1", "#333333": "#d8d6d1", "#444444": "#b4bcc6", "#666666": "#9ba5b0",
    "#777777": "#9ba5b0", "#888888": "#8b95a1", "#999999": "#7c8794", "#cccccc": "#3a434e",
    "#dddddd": "#323a44", "#eeeeee": "#2d343e",
    "#f3f6fa": "#202731", "#f7f9fc": "#202731", "#a6cde3": "#2b587c", "#3a87c0": "#4f9fd6", "#08306b": "#cde7f9",
    "#0072b2": "#4fa8dc", "#d55e00": "#f08a4b", "#009e73": "#35c49a", "#cc79a7": "#de9ac2",
    "#e69f00": "#f2b93b", "#882255": "#c25a8e", "#332288": "#7d6fd0", "#117733": "#3fa463",
    "#aa4499": "#c977bd", "#4477aa": "#6c9fd2",
  }));
  const NOT_COLOURS = new Set(["data", "datasets", "domain", "text", "field", "title", "values", "sort", "name"]);
  const recoloured = (value) => {
    if (typeof value === "string") return DARK.get(value.toLowerCase()) ?? value;
    if (Array.isArray(value)) return value.map(recoloured);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) =>
        [key, NOT_COLOURS.has(key) && (typeof each !== "object" || key.startsWith("data") || key === "domain" || key === "values") ? each : recoloured(each)]));
    }
    return value;
  };
  const look = (spec, dark, narrow) => {
    const [ink, soft, line] = dark ? ["#e8e6e1", "#9ba5b0", "#2d343e"] : ["#1c1f24", "#59616b", "#e7e4de"];
    const config = spec.config ?? {};
    const add = (name, more) => { config[name] = { ...config[name], ...more }; };
    config.font = getComputedStyle(document.body).fontFamily;
    add("axis", { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line, ...(narrow ? { titleFontSize: 11, labelFontSize: 11 } : {}) });
    // A heat map is as wide as it has columns; beside it a legend would be cut off.
    const below = narrow || typeof spec.width === "object";
    add("legend", { labelColor: soft, titleColor: soft, ...(below ? { orient: "bottom", columns: 3 } : {}) });
    add("title", { color: ink, subtitleColor: soft });
    add("header", { labelColor: ink, titleColor: soft });
    add("text", { color: ink });
    add("rule", { color: soft });
    return { ...spec, config };
  };
  const fitted = (spec, width) => {
    const narrow = width < 520;
    const made = { ...spec, background: "transparent", padding: 2 };
    delete made.title;
    if (made.concat) {
      const panel = made.concat[0].width ?? 230;
      made.columns = Math.max(1, Math.min(made.columns ?? 99, Math.floor((width - 110) / (panel + 22))));
      // Panels of one line share the names at its left end, however many stand in a line here.
      made.concat = made.concat.map((each, at) => JSON.parse(JSON.stringify(each), (key, value) =>
        key === "axis" && typeof value?.labels === "boolean" ? { ...value, labels: at % made.columns === 0 } : value));
    } else if (typeof made.width === "number" && made.width === made.height) {
      made.width = made.height = Math.max(220, Math.min(width - (narrow ? 20 : 200), made.width));
    } else if (typeof made.width === "number" && (made.layer || made.mark)) {
      made.width = Math.max(240, Math.min(width, 920));
      made.autosize = { type: "fit-x", contains: "padding" };
    } else if (made.spec && typeof made.spec.width === "number") {
      made.spec = { ...made.spec, width: Math.max(200, Math.min(width - (narrow ? 60 : 230), 760)) };
    }
    return made;
  };
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const tooltip = (_handler, event, _item, value) => {
    if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
    const pairs = typeof value === "object" ? Object.entries(value) : [["", value]];
    tip.replaceChildren(...pairs.filter(([, each]) => each !== null && each !== "").map(([name, each]) => {
      const line = document.createElement("div");
      const [left, right] = [document.createElement("b"), document.createElement("span")];
      left.textContent = name;
      right.textContent = String(each);
      line.append(left, right);
      return line;
    }));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
    tip.style.top = `${event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16}px`;
  };
  // The chart library is most of the page: it runs when it is first needed, by its hash in the policy.
  const embed = (...given) => {
    if (!window.vegaEmbed) {
      const script = document.createElement("script");
      script.textContent = document.getElementById("library").textContent;
      document.head.append(script);
    }
    return window.vegaEmbed(...given);
  };
  // Numbers and dates on axes as the reader writes them; what is saved stays English.
  const LOCAL = isEnglish() ? {} : (() => {
    const parts = new Intl.NumberFormat(locale, { minimumFractionDigits: 1 }).formatToParts(1234567.5);
    const sign = (type, other) => parts.find((part) => part.type === type)?.value ?? other;
    const days = (width) => [6, 0, 1, 2, 3, 4, 5].map((day) => dayOfWeek(day, width));
    const months = (width) => Array.from({ length: 12 }, (_, at) => clock(new Date(Date.UTC(2024, at, 1)), { month: width }));
    return {
      formatLocale: { decimal: sign("decimal", "."), thousands: sign("group", ","), grouping: [3], currency: ["", ""], numerals: Array.from({ length: 10 }, (_, digit) => numeral(digit, {})) },
      timeFormatLocale: { dateTime: "%x %X", date: "%Y-%m-%d", time: "%H:%M:%S", periods: ["AM", "PM"], days: days("long"), shortDays: days("short"), months: months("long"), shortMonths: months("short") },
    };
  })();
  const OPTIONS = { mode: "vega-lite", ast: true, actions: false, defaultStyle: false, hover: false };
  const specOf = (figure) => JSON.parse(figure.querySelector("script").textContent);
  // The height that a chart will take, within a line or so: without it the page would jump under
  // the reader's hand when a chart is drawn, and a click would land beside its button.
  const tall = (spec) => {
    const lines = spec.concat ? Math.ceil(spec.concat.length / spec.columns) : (spec.facet?.row?.sort?.length ?? 1);
    const each = (spec.concat?.[0] ?? spec.spec ?? spec).height;
    if (typeof each !== "number") return null;
    return spec.concat ? lines * (each + 78) : lines * each + (spec.facet ? 34 * lines : 0) + 66;
  };
  const reserve = (figure) => {
    const plot = figure.querySelector(".plot");
    const height = tall(fitted(specOf(figure), plot.clientWidth - 34));
    if (height !== null) plot.style.minHeight = `${height}px`;
  };
  const results = new Map();
  const draw = async (figure, printing = false) => {
    const plot = figure.querySelector(".plot");
    const room = printing ? 660 : plot.clientWidth - 34;
    const dark = isDark() && !printing;
    const fit = fitted(specOf(figure), room);
    const spec = look(dark ? recoloured(fit) : fit, dark, room < 520);
    const box = document.createElement("div");
    try {
      const result = await embed(box, spec, { ...OPTIONS, ...LOCAL, renderer: "svg", tooltip });
      plot.replaceChildren(box);
      results.get(figure)?.finalize();
      results.set(figure, result);
      figure.dataset.width = String(plot.clientWidth);
    } catch (error) {
      plot.textContent = "This chart could not be drawn.";
      console.error(error);
    }
    plot.style.minHeight = "";
    plot.classList.add("drawn");
  };
  const figures = all("figure.chart");
  figures.forEach(reserve);
  const lazily = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      lazily.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "300px 0px" });
  figures.forEach((figure) => lazily.observe(figure));
  const redraw = () => [...results.keys()].forEach((figure) => draw(figure));
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const figure of results.keys()) {
        const now = figure.querySelector(".plot").clientWidth;
        if (Math.abs(now - Number(figure.dataset.width)) > 24) draw(figure);
      }
    }, 200);
  });
  // Paper is white and shows everything, also what nobody has scrolled to.
  addEventListener("beforeprint", () => figures.forEach((figure) => { lazily.unobserve(figure); draw(figure, true); }));
  addEventListener("afterprint", redraw);

  const saveChart = async (figure, ending) => {
    const title = figure.querySelector(".plot").dataset.title;
    const spec = { title, background: "white", padding: 14, ...specOf(figure) };
    const result = await embed(document.createElement("div"), spec, { ...OPTIONS, renderer: "svg", tooltip });
    if (ending === "svg") {
      save(new Blob([await result.view.toSVG()], { type: "image/svg+xml" }), `${stem(title)}.svg`);
    } else {
      const canvas = await result.view.toCanvas(2);
      canvas.toBlob((blob) => save(blob, `${stem(title)}.png`), "image/png");
    }
    result.finalize();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("thead th");
    if (head) { sort(head); return; }
    const ending = button.dataset.save;
    if (ending === "csv") {
      const box = button.closest(".table");
      save(new Blob([csv(box.querySelector("table"))], { type: "text/csv" }), `${stem(box.querySelector(".title").firstElementChild.textContent)}.csv`);
    } else if (ending) {
      saveChart(button.closest("figure"), ending);
    }
  });
})();
