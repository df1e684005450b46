// Listens to the server's events and shows what they say. All that is kept is kept in rings.
(() => {
  "use strict";
  const drawEveryMs = 200; // faster, nobody reads it
  const spokenEveryMs = 10000;
  const silentSteps = 5;
  const element = (id) => document.getElementById(id);
  const [NUMBER, RELEASED, MISSED, LATE, UNKNOWN, WORST, WORST_S, NOW] = [0, 1, 2, 3, 4, 5, 6, 7]; // as Totals has them

  // All that the page knows.
  const known = {
    about: null, news: null, connected: false, over: false, heardAtMs: 0, events: 0,
    points: [], columns: [], late: [],
  };
  window.tautochrone = known; // for tests, and for who is curious

  // Adds what is new behind what is there; what has the same key as the last one takes its place.
  const into = (ring, news, most) => {
    for (const one of news) {
      if (ring.length > 0 && ring[ring.length - 1][0] === one[0]) ring[ring.length - 1] = one;
      else ring.push(one);
    }
    if (ring.length > most) ring.splice(0, ring.length - most);
  };
  const hear = (news) => {
    if (news.whole) Object.assign(known, { about: news.about, points: [], columns: [], late: [] });
    into(known.points, news.points, rings.course);
    into(known.columns, news.columns, rings.columns);
    into(known.late, news.late, rings.late);
    Object.assign(known, { news, heardAtMs: performance.now(), connected: true, over: false, events: known.events + 1 });
    dirty = true;
  };

  const listen = () => {
    const source = new EventSource("events");
    source.addEventListener("open", () => Object.assign(known, { connected: true }));
    source.addEventListener("message", (event) => hear(JSON.parse(event.data)));
    source.addEventListener("over", () => {
      Object.assign(known, { connected: false, over: true });
      source.close();
      window.setTimeout(listen, 5000);
    });
    source.addEventListener("error", () => {
      known.connected = false; // the browser looks for the server again, unless it was refused
      if (source.readyState === EventSource.CLOSED) window.setTimeout(listen, 5000);
    });
  };

  // ---- Words ----

  const say = (id, text) => {
    const target = element(id);
    if (target.textContent !== text) target.textContent = text;
  };
  const time = (ns) => (ns === null || ns === undefined ? "N/A" : words.duration(ns));
  const limit = (ns) => (ns === null ? "too few" : ns === "among lost" ? ns : words.duration(ns));
  const clock = (unixS, withDay) => {
    const at = new Date(unixS * 1000);
    const two = (value) => String(value).padStart(2, "0");
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
    return `${withDay ? day : ""}${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  };
  const step = () => ({ 1: "second", 60: "minute" })[known.about.step_s] ?? "interval";
  const nameOf = (number) => known.about.sources.find((one) => one.number === number)?.name ?? String(number);
  const standing = () => {
    const { about, news } = known;
    if (known.over) return ["waiting", "not-shown", "The server has ended."];
    if (!known.connected) return news === null ? ["waiting", "not-shown", "Looking for the server."] : ["broken", "missed", "The page has lost its server, and looks for it again."];
    if (news === null || news.newest_s === null) return ["waiting", "not-shown", "Waiting for the first samples."];
    if (news.state === "complete") return ["waiting", "holds", "Complete: nothing more is measured."];
    if (news.state === "cut off") return ["broken", "missed", "Cut off: nobody measures any more. tauto recover completes it."];
    const silentS = Math.max(0, Date.now() / 1000 - news.newest_s - about.step_s);
    if (silentS > silentSteps * about.step_s + 5) return ["silent", "tight", `Nothing new for ${words.number(silentS)} s.`];
    return ["measuring", "holds", `Measuring since ${clock(about.begun_s, true)}.`];
  };
  const rows = (id, table) => {
    const body = element(id);
    while (body.rows.length > table.length) body.deleteRow(-1);
    table.forEach((cells, at) => {
      const row = body.rows[at] ?? body.insertRow();
      cells.forEach(([text, look], place) => {
        if (row.cells[place] === undefined) row.append(document.createElement(place === 0 ? "th" : "td"));
        const cell = row.cells[place];
        if (cell.textContent !== text) cell.textContent = text;
        if (cell.className !== look) cell.className = look;
      });
    });
  };

  const showStatus = () => {
    const [look, mark, text] = standing();
    document.querySelector(".status").className = `status ${look}`;
    document.documentElement.dataset.standing = look;
    element("status-mark").setAttribute("href", `#mark-${mark}`);
    say("status", text);
  };
  const showNumbers = () => {
    const { about, news } = known;
    say("what", [about.machine, about.experiment, about.run].filter((one) => one).join(" · "));
    say("title", about.title || about.run);
    document.title = `${about.title || about.run}, live`;
    const seen = news.totals.filter((one) => one[WORST] !== null);
    const worst = seen.reduce((most, one) => (most === null || one[WORST] > most[WORST] ? one : most), null);
    const sum = (of) => news.totals.reduce((total, one) => total + one[of], 0);
    say("worst", worst === null ? "N/A" : time(worst[WORST]));
    say("worst-when", worst === null ? "" : `${nameOf(worst[NUMBER])}, ${clock(worst[WORST_S], true)}`);
    const point = known.points[known.points.length - 1];
    say("now-title", `Worst of the last ${step()}`);
    say("now", point === undefined ? "N/A" : time(point[2]));
    say("typical", point === undefined || point[1] === null ? "" : `median ${time(point[1])}`);
    const late = sum(LATE) + sum(MISSED);
    say("late", words.number(late));
    const lost = sum(UNKNOWN) > 0 ? `; ${words.number(sum(UNKNOWN))} unknown` : "";
    say("released", `of ${words.number(sum(RELEASED))} cycles${lost}`);
    element("late-tile").classList.toggle("missed", late > 0);
    if (news.events !== null) {
      const [begun, low, high] = news.events;
      const most = high >= 1440 ? "any number" : `${high < 10 ? high.toPrecision(2) : words.number(high)}`;
      say("events", words.number(begun));
      say("events-limits", `so far; ${low < 0.005 ? 0 : low.toPrecision(2)} to ${most} a day`);
    }
    element("until").hidden = news.until === "";
    say("until", news.until);
    const beside = [`Load: ${about.load || "idle"}.`];
    if (about.period_ns !== null) beside.unshift(`${words.rate(1e9 / about.period_ns)}; late past ${time(about.limit_ns)}.`);
    beside.push(news.temperature_c === null ? "Temperature N/A." : `${news.temperature_c.toFixed(0)} °C.`);
    say("beside", beside.join(" "));
    say("key-worst", `worst of each ${step()}`);
    const frequency = new Map(news.frequency_khz);
    rows("source-rows", news.totals.map((one) => {
      const cpu = about.sources.find((source) => source.number === one[NUMBER])?.cpu;
      const khz = frequency.get(cpu);
      return [
        [nameOf(one[NUMBER]), ""], [words.number(one[RELEASED]), "num"],
        [words.number(one[MISSED]), one[MISSED] > 0 ? "num bad" : "num"], [words.number(one[LATE]), one[LATE] > 0 ? "num bad" : "num"],
        [words.number(one[UNKNOWN]), "num"], [time(one[NOW]), "num"], [time(one[WORST]), "num"],
        [khz === undefined ? "N/A" : words.number(khz / 1000), "num"],
      ];
    }));
    rows("quantile-rows", news.quantiles.map(([q, value, low, high]) => [
      [`${String(+(100 * q).toFixed(6))} %`, ""], ...[value, low, high].map((ns) => [limit(ns), "num"]),
    ]));
    rows("late-rows", [...known.late].reverse().map(([, at, source, ns, cause]) => [
      [clock(at, true), ""], [nameOf(source), ""], [time(ns), "num"], [cause || "N/A", "cause"],
    ]));
    element("late-none").hidden = known.late.length > 0;
    element("late-scroll").hidden = known.late.length === 0;
    say("heat-title", `Worst latency by ${about.column_s === 3600 ? "hour" : "minute"} and CPU`);
  };

  // ---- Pictures ----

  const margin = { left: 62, right: 12, top: 30, bottom: 24 };
  const drawCourse = () => {
    const { context, width, height } = drawing.begin(element("course"));
    const { colours } = drawing;
    const { points, about } = known;
    if (points.length === 0) return;
    let [low, high] = [Infinity, about.limit_ns ?? 0];
    for (const [, typical, worst] of points) {
      if (typical > 0) low = Math.min(low, typical);
      if (worst > 0) [low, high] = [Math.min(low, worst), Math.max(high, worst)];
    }
    if (high <= 0) return;
    const [least, most] = [Math.floor(Math.log10(Math.min(low, high))), Math.ceil(Math.log10(high * 1.2))];
    const [from, to] = [points[0][0], Math.max(points[points.length - 1][0], points[0][0] + 60 * about.step_s)];
    const right = width - margin.right;
    const x = (s) => margin.left + ((right - margin.left) * (s - from)) / (to - from);
    const y = (ns) => margin.top + (height - margin.top - margin.bottom) * (1 - (Math.log10(ns) - least) / (most - least));
    context.textBaseline = "middle";
    for (let decade = least; decade <= most; decade += 1) {
      context.strokeStyle = colours.grid;
      context.beginPath();
      context.moveTo(margin.left, y(10 ** decade));
      context.lineTo(right, y(10 ** decade));
      context.stroke();
      context.fillStyle = colours.muted;
      context.textAlign = "right";
      context.fillText(words.duration(10 ** decade), margin.left - 6, y(10 ** decade));
    }
    context.fillText("late", margin.left - 6, 14);
    context.textBaseline = "alphabetic";
    const withDay = to - from > 86400;
    for (const [share, align] of width < 560 ? [[0, "left"], [1, "right"]] : [[0, "left"], [0.5, "center"], [1, "right"]]) {
      context.textAlign = align;
      context.fillText(clock(from + share * (to - from), withDay), x(from + share * (to - from)), height - 8);
    }
    if (about.limit_ns !== null) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.5;
      context.setLineDash([2, 2]);
      context.beginPath();
      context.moveTo(margin.left, y(about.limit_ns));
      context.lineTo(right, y(about.limit_ns));
      context.stroke();
    }
    const line = (of, colour, dash) => {
      context.strokeStyle = colour;
      context.lineWidth = 1.6;
      context.lineJoin = "round";
      context.setLineDash(dash);
      context.beginPath();
      let [column, value, before] = [null, 0, -Infinity];
      const put = () => {
        if (column === null) return;
        if (column - before > Math.max(3, (3 * about.step_s * (right - margin.left)) / (to - from))) {
          context.moveTo(column - 0.5, y(value));
          context.lineTo(column + 0.5, y(value)); // alone, it is still to be seen
        } else context.lineTo(column, y(value));
        before = column;
      };
      for (const point of points) {
        if (!(point[of] > 0)) continue;
        const at = Math.round(x(point[0]));
        if (at !== column) {
          put();
          [column, value] = [at, 0];
        }
        value = Math.max(value, point[of]); // of all that share a column of pixels
      }
      put();
      context.stroke();
      context.setLineDash([]);
    };
    line(1, colours["series-1"], [6, 3]);
    line(2, colours["series-0"], []);
    context.strokeStyle = colours.missed;
    context.lineWidth = 1.8;
    let marked = -Infinity;
    for (const [at, , , late] of points) {
      if (late === 0 || x(at) - marked < 5) continue;
      marked = x(at);
      context.beginPath();
      context.moveTo(marked - 4, 10);
      context.lineTo(marked + 4, 18);
      context.moveTo(marked + 4, 10);
      context.lineTo(marked - 4, 18);
      context.stroke();
    }
  };

  // Six steps of colour over the doublings between the least and the largest of the cells.
  const heatSteps = 6;
  const drawHeat = () => {
    const { about, columns } = known;
    const canvas = element("heat");
    const rowPx = about.sources.length > 16 ? 12 : 20;
    const wanted = `${about.sources.length * rowPx + 34}px`;
    if (canvas.style.height !== wanted) canvas.style.height = wanted;
    const { context, width, height } = drawing.begin(canvas);
    const { colours } = drawing;
    let [low, high] = [Infinity, 0];
    for (const [, worst] of columns) for (const [, ns] of worst) [low, high] = [Math.min(low, ns), Math.max(high, ns)];
    if (high <= 0) return;
    const right = width - margin.right;
    const most = Math.max(12, Math.floor((right - margin.left) / 5));
    const shown = columns.slice(-most);
    const wide = Math.min(28, (right - margin.left) / Math.max(12, shown.length));
    const place = new Map(about.sources.map((one, at) => [one.number, at]));
    const span = Math.max(1, Math.log2(high / low));
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = colours.muted;
    about.sources.forEach((one, at) => {
      if (rowPx >= 12) context.fillText(one.name, margin.left - 6, 6 + (at + 0.5) * rowPx, margin.left - 10);
    });
    shown.forEach(([, worst, late], at) => {
      const left = margin.left + at * wide;
      for (const [source, ns] of worst) {
        const heat = Math.min(heatSteps - 1, Math.floor((Math.log2(ns / low) / span) * heatSteps));
        context.fillStyle = colours[`heat-${heat}`];
        context.fillRect(left, 6 + place.get(source) * rowPx, Math.max(1, wide - 1), rowPx - 1);
      }
      for (const [source, count] of late) {
        if (count === 0) continue;
        context.strokeStyle = colours.missed;
        context.lineWidth = 2;
        context.strokeRect(left + 1, 7 + place.get(source) * rowPx, Math.max(1, wide - 3), rowPx - 3);
      }
    });
    context.fillStyle = colours.muted;
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillText(clock(shown[0][0], true).slice(0, 16), margin.left, height - 10);
    say("heat-key", `Light to strong: ${time(low)} to ${time(high)}. A frame: late or missed cycles.${shown.length < columns.length ? ` The last ${shown.length} of ${columns.length}.` : ""}`);
  };

  const speak = () => {
    const { points } = known;
    const worst = points.reduce((most, one) => Math.max(most, one[2] ?? 0), 0);
    const late = points.reduce((total, one) => total + one[3], 0);
    element("course").setAttribute("aria-label", `In the last ${words.plural(points.length, step())}: worst ${time(worst)}, ${words.plural(late, "late or missed cycle")}.`);
    element("heat").setAttribute("aria-label", `Worst latency of ${words.plural(known.about.sources.length, "source")} in ${words.plural(known.columns.length, "stretch", "stretches")}.`);
  };

  // ---- The clockwork ----

  let [dirty, drawnAtMs, spokenAtMs] = [true, -Infinity, -Infinity];
  const forget = () => {
    drawing.read();
    dirty = true;
  };
  const frame = (nowMs) => {
    if (nowMs - drawnAtMs >= drawEveryMs) {
      showStatus();
      if (dirty && known.news !== null && known.about !== null) {
        showNumbers();
        drawCourse();
        drawHeat();
        dirty = false;
        if (nowMs - spokenAtMs >= spokenEveryMs) {
          speak();
          spokenAtMs = nowMs;
        }
      }
      drawnAtMs = nowMs;
    }
    window.requestAnimationFrame(frame);
  };
  window.addEventListener("resize", forget);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forget);
  listen();
  window.requestAnimationFrame(frame);
})();
