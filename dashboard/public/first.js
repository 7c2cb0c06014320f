// Runs before everything else.
(function () {
  // Storage that is switched off or full: what is kept lives as long as the page. Scalar needs some.
  ['localStorage', 'sessionStorage'].forEach(function (name) {
    try {
      window[name].setItem('probe', '');
      window[name].removeItem('probe');
    } catch {
      Object.defineProperty(window, name, { value: memory() });
    }
  });
  function memory() {
    var items = new Map();
    return {
      get length() {
        return items.size;
      },
      key: (index) => [...items.keys()][index] ?? null,
      getItem: (key) => items.get(String(key)) ?? null,
      setItem: (key, value) => void items.set(String(key), String(value)),
      removeItem: (key) => void items.delete(String(key)),
      clear: () => items.clear(),
    };
  }

  // Before the first paint; the app's own theme code (src/lib/theme.ts) uses the same key and classes.
  var choice = localStorage.getItem('theme');
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);

  // The app's own script does not arrive: a newer version replaced it, or the service went away.
  addEventListener(
    'error',
    function ({ target }) {
      var root = document.getElementById('root');
      if (target.tagName !== 'SCRIPT' || root.hasChildNodes()) return;
      root.innerHTML =
        '<main class="p-6"><h1 class="text-2xl font-semibold">The page could not be loaded</h1>' +
        '<p>A newer version of it was just published, or the service can’t be reached.</p>' +
        '<p><a class="underline" href="">Reload</a></p></main>';
      root.querySelector('a').addEventListener('click', function (event) {
        event.preventDefault();
        // Not where nothing answers: the browser would show its own error page.
        fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
          () => location.reload(),
          function () {},
        );
      });
    },
    true,
  );
})();
