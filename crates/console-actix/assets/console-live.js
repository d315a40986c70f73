// The live log: entries appear at the top as they arrive. Scrolling away, or a button, pauses: what arrives meanwhile waits.
(function () {
  "use strict";

  const log = document.getElementById("log");
  const bar = document.getElementById("live-bar");
  if (!log || !bar || !("after" in log.dataset)) return;
  const state = document.getElementById("live-state");
  const pause = document.getElementById("live-pause");
  const resume = document.getElementById("live-resume");
  const max = Number(log.dataset.max);

  let last = log.dataset.after; // Where the stream is: the id of its last event.
  let waiting = []; // The lines that wait, the oldest first.
  let connection = "connecting"; // Or "open", "lost", "ended".
  let isHeld = false;
  let isPlanned = false;

  // The browser goes on after the last event by itself; where it has given up, the new connection says where.
  htmx.createEventSource = function (url) {
    const from = new URL(url, location.href);
    from.searchParams.set("after", last);
    return new EventSource(from, { withCredentials: true });
  };

  function isPaused() {
    return isHeld || log.getBoundingClientRect().top < -20;
  }

  const words = {
    connecting: "○ Connecting…",
    open: "● Live: entries appear as they arrive",
    lost: "▲ The connection is lost; trying again. Nothing will be missed",
    ended: "■ Your session has ended. Sign in again to go on",
  };

  function set(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  function show() {
    const paused = isPaused() && connection !== "ended";
    bar.dataset.state = paused && connection === "open" ? "paused" : connection;
    set(state, paused && connection === "open" ? "❚❚ Paused: new entries wait" : words[connection]);
    pause.hidden = paused || connection === "ended";
    resume.hidden = !paused;
    const count = waiting.length === max ? "The newest " + max : String(waiting.length);
    set(resume, waiting.length === 0 ? "Go on" : "Show " + count + " new " + (waiting.length === 1 ? "entry" : "entries"));
  }

  function insert() {
    const lines = document.createElement("template");
    lines.innerHTML = waiting.reverse().join("");
    waiting = [];
    for (const line of lines.content.querySelectorAll("tr")) {
      if (document.getElementById(line.id)) line.remove();
    }
    // The times are shown as those of the page.
    document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: lines.content } }));
    log.prepend(lines.content);
    const hint = document.getElementById("log-hint");
    if (hint) hint.remove();
    for (const line of Array.from(log.querySelectorAll("tr[data-entry]")).slice(max)) line.remove();
  }

  function refresh() {
    isPlanned = false;
    if (waiting.length > 0 && !isPaused()) insert();
    show();
  }

  function plan() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(refresh);
  }

  function connect(to) {
    connection = to;
    plan();
  }

  log.addEventListener("htmx:sseOpen", function () { connect("open"); });
  log.addEventListener("htmx:sseError", function () { if (connection !== "ended") connect("lost"); });
  log.addEventListener("htmx:sseClose", function (event) { if (event.detail.type === "message") connect("ended"); });
  log.addEventListener("htmx:sseBeforeMessage", function (event) {
    event.preventDefault(); // Lines are inserted together, and not while paused.
    if (event.detail.lastEventId) last = event.detail.lastEventId;
    waiting.push(event.detail.data);
    if (waiting.length > max) waiting.shift();
    plan();
  });

  pause.addEventListener("click", function () { isHeld = true; show(); resume.focus(); });
  resume.addEventListener("click", function () {
    isHeld = false;
    if (waiting.length > 0) insert();
    scrollTo(0, 0);
    plan();
    pause.hidden = false;
    pause.focus({ preventScroll: true });
  });
  addEventListener("scroll", plan, { passive: true });
  show();
})();
