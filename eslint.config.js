// Plain rules: nothing unused, nothing undefined, nothing shadowed by mistake.
const browser = [
  "document", "window", "location", "history", "navigator", "localStorage", "matchMedia", "addEventListener", "removeEventListener", "dispatchEvent",
  "requestAnimationFrame", "setTimeout", "clearTimeout", "setInterval", "performance", "devicePixelRatio", "innerWidth", "innerHeight",
  "getSelection", "getComputedStyle", "Event", "CustomEvent", "EventTarget", "ResizeObserver", "MutationObserver", "WebSocket", "URL", "URLSearchParams",
  "Blob", "File", "XMLSerializer", "ImageData", "Path2D", "MediaRecorder", "Storage", "atob", "btoa", "console", "process",
];

export default [
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
    rules: {
      "no-undef": "error", "no-unused-vars": "error", "no-shadow": "off", "no-var": "error", "prefer-const": "error", eqeqeq: "error",
      "no-implicit-globals": "error", "no-redeclare": "error", "no-unreachable": "error", "no-dupe-keys": "error", "no-self-assign": "error",
      "no-constant-condition": "error", "no-fallthrough": "error", "no-eval": "error", "no-new-func": "error", "max-len": ["error", 140],
    },
  },
];
