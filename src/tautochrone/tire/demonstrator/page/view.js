// Listens to the server, shows what it says, and looks for it again when it is gone.
(() => {
  "use strict";
  const firstRetryMs = 500;
  const longestRetryMs = 8000;
  const silentFromS = 0.5;
  const impatientFromS = 10;
  const numbersEveryMs = 200; // faster, nobody reads them
  const spokenEveryMs = 5000;
  const serverEnds = 1001; // what a WebSocket closes with when its server ends
  const slowPictureMs = 500; // for who asked for less motion
  const element = (id) => document.getElementById(id);
  const lessMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

  // All that the page knows.
  const known = {
    server: null, socket: null, connected: false, connectedAtMs: 0, retryAtMs: null, retryMs: firstRetryMs, attempts: 0,
    what: "", receivesAt: "", ended: null,
    state: null, picture: null, reception: null, skipped: 0,
    silentS: null, heardAtMs: 0, // so long was the silence when the server last spoke of it
    paused: false, allMotion: false,
  };
  window.tautochrone = known; // for tests, and for who is curious

  // ---- What is heard ----

  const heard = {
    hello(message) {
      // How things stand comes next; who was here before sees no gap, unless there is one.
      Object.assign(known, {
        server: message.server, what: message.what, receivesAt: message.receives_at, reception: message.reception,
        state: null, ended: null, skipped: 0,
      });
      strip.set(message.history);
    },
    state(message) {
      if (known.state !== null && known.state.run !== message.run) strip.set([]);
      known.state = message;
      if (message.xy.length > 0) known.picture = message;
      strip.add(message.point);
      hearNow(message.reception, 0);
    },
    reception(message) {
      hearNow(message.reception, message.silent_s);
    },
    skipped(message) {
      known.skipped = message.count;
    },
    ended(message) {
      known.ended = message.words;
    },
  };
  const hearNow = (reception, silentS) => Object.assign(known, { reception, silentS, heardAtMs: performance.now() });
  const silentNowS = () => (known.silentS === null ? null : known.silentS + (performance.now() - known.heardAtMs) / 1000);

  // ---- The connection ----

  const connect = () => {
    known.attempts += 1;
    known.retryAtMs = null;
    const address = new URL("states", window.location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    known.socket = socket;
    socket.addEventListener("open", () => Object.assign(known, { connected: true, connectedAtMs: performance.now(), retryMs: firstRetryMs }));
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      heard[message.kind]?.(message);
    });
    socket.addEventListener("close", (event) => {
      known.connected = false;
      if (event.code === serverEnds) known.ended ??= ""; // its last words can come too late for a page that is slow
      known.retryAtMs = performance.now() + known.retryMs;
      window.setTimeout(connect, known.retryMs);
      known.retryMs = Math.min(longestRetryMs, 2 * known.retryMs);
    });
  };

  // ---- What is shown ----

  const say = (id, text) => {
    const target = element(id);
    if (target.textContent !== text) target.textContent = text;
  };
  const mark = (id, name) => element(id).setAttribute("href", `#mark-${name}`);

  // The class of the status, its mark, and its words.
  const standing = () => {
    if (!known.connected) {
      const again = known.retryAtMs === null ? "now" : `in ${Math.max(0, Math.ceil((known.retryAtMs - performance.now()) / 1000))} s`;
      if (known.ended !== null) return ["waiting", "not-shown", `${known.ended || "Over."} Trying again ${again}, should there be another one.`.trim()];
      if (known.server === null && known.attempts === 1 && known.retryAtMs === null) return ["waiting", "not-shown", "Looking for the server."];
      if (known.server === null) return ["waiting", "not-shown", `No server yet: trying again ${again}.`];
      return ["broken", "missed", `The page has lost its server: trying again ${again}.`];
    }
    if (known.ended !== null) return ["waiting", "holds", known.ended || "Over."];
    if (known.state === null) {
      const waitedS = (performance.now() - known.connectedAtMs) / 1000;
      const doubt = waitedS > impatientFromS ? ` Nothing has come for ${waitedS.toFixed(0)} s: does a firewall keep it off?` : "";
      return ["waiting", "not-shown", `Waiting for the first datagram at ${known.receivesAt} (UDP).${doubt}`];
    }
    if (known.state.over) return ["waiting", "holds", "Over: the tire's run has ended."];
    const silentS = silentNowS();
    const patienceS = Math.max(silentFromS, (3 * known.state.period_ns) / 1e9);
    if (silentS !== null && silentS > patienceS) return ["silent", "tight", `No datagram for ${silentS.toFixed(1)} s.`];
    return ["live-now", "holds", "Live."];
  };

  const showStatus = () => {
    const [look, icon, text] = standing();
    document.querySelector(".status").className = `status ${look}`;
    document.documentElement.dataset.standing = look;
    mark("status-mark", icon);
    say("status", text);
  };

  const showNumbers = () => {
    say("what", known.what);
    const { state, reception } = known;
    if (reception !== null) {
      const extras = [];
      if (reception.before > 0) extras.push(`${words.plural(reception.before, "datagram")} sent before this began to listen`);
      if (reception.late > 0) extras.push(`${words.number(reception.late)} out of order`);
      if (reception.twice > 0) extras.push(`${words.number(reception.twice)} came twice`);
      if (reception.unreadable > 0) extras.push(`${words.number(reception.unreadable)} not readable`);
      if (reception.others > 0) extras.push(`${words.number(reception.others)} of another sender`);
      if (known.skipped > 0) extras.push(`${words.plural(known.skipped, "message")} left out for this page, which is too slow`);
      say("others", extras.length > 0 ? `Datagrams: ${extras.join("; ")}.` : "");
    }
    if (state === null || reception === null) return;
    const second = strip.second();
    const none = state.steps === 0;
    say("step-second", none ? "N/A" : words.duration(second.step));
    say("step-worst", none ? "N/A" : words.duration(state.worst_step_ns));
    say("dispatch-second", none ? "N/A" : words.duration(second.dispatch));
    say("dispatch-worst", none ? "N/A" : words.duration(state.worst_dispatch_ns));
    for (const [id, value] of [["missed-second", second.missed], ["missed-all", state.missed], ["lost-second", second.lost], ["lost", reception.lost]]) {
      say(id, words.number(value));
      element(id).classList.toggle("bad", value > 0);
    }
    say("received-second", words.number(second.received));
    say("received", words.number(reception.received));
    say("missed", words.number(state.missed));
    say("released", `${state.missed === 1 ? "deadline" : "deadlines"} missed of ${words.number(state.released)} steps that were due`);
    mark("deadlines-mark", state.missed > 0 ? "missed" : state.released > 0 ? "holds" : "not-shown");
    document.querySelector(".deadlines").className = `deadlines ${state.missed > 0 ? "missed" : state.released > 0 ? "holds" : ""}`;
    const springs = state.nodes * 1.5;
    say(
      "rate",
      `${words.rate(1e9 / state.period_ns)}, a step each ${words.duration(state.period_ns)}. ${words.plural(state.nodes, "mass", "masses")}, ` +
        `${words.number(springs)} springs; ${words.plural(state.threads, "thread")}, solver ${state.solver}. ` +
        `${words.plural(state.steps, "step")} done: ${words.duration(state.steps * state.period_ns)} simulated.`,
    );
  };

  const showSpoken = () => {
    if (known.picture !== null) tire.canvas.setAttribute("aria-label", tire.sentence(known.picture));
    if (known.state !== null) element("strip").setAttribute("aria-label", strip.sentence(known.state.period_ns));
  };

  const showButton = () => {
    const button = element("pause");
    button.hidden = known.picture === null;
    const slow = lessMotion.matches && !known.allMotion;
    button.textContent = slow ? "Show every picture" : known.paused ? "Go on" : "Pause the picture";
  };
  element("pause").addEventListener("click", () => {
    if (lessMotion.matches && !known.allMotion) known.allMotion = true;
    else known.paused = !known.paused;
    showButton();
  });

  // ---- The clockwork ----

  let [drawn, pictureAtMs, numbersAtMs, spokenAtMs] = [null, -Infinity, -Infinity, -Infinity];
  const forget = () => {
    drawing.read();
    [drawn, numbersAtMs] = [null, -Infinity];
  };
  const frame = (nowMs) => {
    const pictureEveryMs = lessMotion.matches && !known.allMotion ? slowPictureMs : 0;
    if (known.picture !== drawn && nowMs - pictureAtMs >= pictureEveryMs && (!known.paused || drawn === null)) {
      tire.draw(known.picture);
      [drawn, pictureAtMs] = [known.picture, nowMs];
    }
    if (nowMs - numbersAtMs >= numbersEveryMs) {
      numbersAtMs = nowMs;
      showStatus();
      showNumbers();
      showButton();
      if (known.picture !== null) say("drawn", tire.caption(known.picture));
      strip.draw(known.state === null ? null : known.state.period_ns);
    }
    if (nowMs - spokenAtMs >= spokenEveryMs) {
      spokenAtMs = nowMs;
      showSpoken();
    }
    window.requestAnimationFrame(frame);
  };
  window.addEventListener("resize", forget);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forget);
  connect();
  window.requestAnimationFrame(frame);
})();
