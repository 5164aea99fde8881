// Browsers start no worker from a file: there, the search of the pages runs in a hidden frame instead. Nothing is fetched.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  #frame = document.createElement("iframe");
  #ready;
  constructor(address) {
    super();
    this.#frame.hidden = true;
    this.#frame.title = "Search";
    document.body.append(this.#frame);
    const inside = this.#frame.contentWindow, script = inside.document.createElement("script");
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.#ready = new Promise((done) => script.addEventListener("load", done));
    script.src = address;
    inside.document.head.append(script);
  }
  async postMessage(data) {
    await this.#ready;
    const inside = this.#frame.contentWindow;
    inside.dispatchEvent(new inside.MessageEvent("message", { data }));
  }
};
