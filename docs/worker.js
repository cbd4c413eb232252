// Search runs in a worker. A page that was opened from the disk may start none: there its script
// runs in a hidden frame instead, on this page's own thread.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = said => setTimeout(() => {
        const event = new MessageEvent("message", { data: structuredClone(said) })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      })
      this.ready = new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = resolve
        inside.document.body.append(script)
      })
    }

    postMessage(said) {
      const data = structuredClone(said)
      this.ready.then(() => {
        if (this.frame.contentWindow) {
          this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
        }
      })
    }

    terminate() {
      this.frame.remove()
    }
  }
}
