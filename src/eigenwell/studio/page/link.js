// The socket to the server: it comes back by itself, later and later, and says how it is doing.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 3000; // the server is near, and somebody looks at the page
// A server that leaves a ping unanswered this long is gone, even if the socket does not know it.
const PING_EVERY = 15_000;
const PATIENCE = 20_000;
// One that does not answer the door for this long is tried anew.
const AT_THE_DOOR = 10_000;

export class Link extends EventTarget {
  /** Why the server hung up, where it said so. */
  reason = "";
  #socket = null;
  #wait = FIRST_WAIT;
  #retryAt = 0;
  #timer = 0;
  #heard = 0;
  #pinged = 0;
  #tried = 0;

  constructor() {
    super();
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#hurry());
    setInterval(() => this.#pulse(), 1000);
  }

  get isOpen() { return this.#socket?.readyState === WebSocket.OPEN; }

  /** Seconds until the next try, 0 while trying. */
  get retryIn() { return this.isOpen ? 0 : Math.max(0, Math.ceil((this.#retryAt - performance.now()) / 1000)); }

  open() {
    const address = new URL("ws", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.search = location.search;
    address.hash = "";
    const socket = (this.#socket = new WebSocket(address));
    this.#tried = performance.now();
    socket.onopen = () => {
      this.#heard = performance.now();
      this.#tell("state");
    };
    socket.onmessage = ({ data }) => {
      this.#heard = performance.now();
      this.#wait = FIRST_WAIT; // a server that opens the door and says nothing is no server
      let message;
      try {
        message = JSON.parse(data);
      } catch {
        return;
      }
      if (message && typeof message.type === "string") this.#tell("message", message);
    };
    socket.onclose = ({ reason }) => {
      if (socket !== this.#socket) return;
      this.reason = reason;
      this.#retryAt = performance.now() + this.#wait;
      this.#timer = setTimeout(() => this.open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
      this.#tell("state");
    };
  }

  send(message) {
    if (!this.isOpen) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #hurry() {
    if (this.isOpen || this.#socket?.readyState === WebSocket.CONNECTING || !this.#socket) return;
    clearTimeout(this.#timer);
    this.open();
  }

  #pulse() {
    if (!this.isOpen) {
      const late = performance.now() - this.#tried > AT_THE_DOOR;
      if (late && this.#socket?.readyState === WebSocket.CONNECTING) this.#socket.close();
      this.#tell("state");
      return;
    }
    const now = performance.now();
    if (this.#pinged > this.#heard) {
      if (now - this.#pinged > PATIENCE) this.#socket.close();
    } else if (now - this.#heard > PING_EVERY) {
      this.#pinged = now;
      this.send({ type: "ping" });
    }
  }

  #tell(kind, detail) { this.dispatchEvent(new CustomEvent(kind, { detail })); }
}
