// Times relative to now and in the viewer's zone, buttons that copy, and the key that leads to the search field.
(function () {
  "use strict";

  const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
  const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
  const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const milli = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
  });

  const MINUTE = 60 * 1000;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;

  function date(time, now) {
    return (time.getFullYear() === now.getFullYear() ? day : dayOfYear).format(time);
  }

  // The age, up to a week.
  function age(time, now) {
    const distance = time - now;
    const size = Math.abs(distance);
    if (size < MINUTE) return relative.format(Math.trunc(distance / 1000), "second");
    if (size < HOUR) return relative.format(Math.trunc(distance / MINUTE), "minute");
    if (size < DAY) return relative.format(Math.trunc(distance / HOUR), "hour");
    return relative.format(Math.trunc(distance / DAY), "day");
  }

  const forms = {
    // Relative on the day, then day and time.
    age(time, now) {
      const isNear = Math.abs(now - time) < DAY;
      return isNear ? age(time, now) : date(time, now) + ", " + minute.format(time);
    },
    full(time, now) {
      return date(time, now) + ", " + second.format(time) + " (" + age(time, now) + ")";
    },
    clock(time, now) {
      const isToday = time.toDateString() === now.toDateString();
      return isToday ? milli.format(time) : date(time, now) + " " + milli.format(time);
    },
  };

  function showTimes(root) {
    const now = new Date();
    for (const element of root.querySelectorAll("time[data-form]")) {
      const time = new Date(element.dateTime);
      const form = forms[element.dataset.form];
      if (!form || Number.isNaN(time.getTime())) continue;
      const text = form(time, now);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  function showButtons(root) {
    if (!navigator.clipboard) return; // Browsers have it over TLS and on the local machine only.
    for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  }

  function show(root) {
    showTimes(root);
    showButtons(root);
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    navigator.clipboard.writeText(button.dataset.copy).then(function () {
      button.textContent = "Copied";
      setTimeout(function () { button.textContent = "Copy"; }, 2000);
    });
  });

  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const field = document.getElementById("search");
    if (!field) return;
    event.preventDefault();
    field.focus();
  });

  // A choice of a filter form shows its list at once; text fields wait for Enter.
  document.addEventListener("change", function (event) {
    const form = event.target.closest("form.filters");
    if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
  });

  document.addEventListener("htmx:load", function (event) { show(event.detail.elt); });
  setInterval(function () { showTimes(document); }, 10 * 1000);
  show(document);
})();
