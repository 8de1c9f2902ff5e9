// The connection to the feed: opens it again when it is lost, later and later, and asks for a token
// when the server wants one.

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 10000;
const SILENCE_MAX_MS = 5000; // of a calm job, too: then the coordinator is asked whether it answers

class Link {
  // `onMessage` is given each message; `onState` gets `live`, `connecting`, `waiting` with the
  // time of the next try, and `locked`.
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.failures = 0;
    this.socket = null; // null: it was lost
    this.isLive = false;
    this.isAsking = false;
    this.heardAt = 0; // the last sign of life; before the first one, when it was opened
    this.timer = null;
    window.addEventListener('online', () => this.tryNow());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.tryNow();
    });
    setInterval(() => this.checkSilence(), 1000);
  }

  open() {
    this.onState('connecting');
    const url = new URL('api/v1/live', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    this.socket = socket;
    this.heardAt = performance.now();
    socket.addEventListener('message', (event) => this.take(socket, event.data));
    socket.addEventListener('close', () => {
      if (socket === this.socket) this.heardAt = performance.now();
      this.lost(socket);
    });
  }

  take(socket, text) {
    if (socket !== this.socket) return;
    this.heardAt = performance.now();
    const message = JSON.parse(text);
    if (message.type === 'state') {
      this.failures = 0;
      this.isLive = true;
      this.onState('live');
    }
    this.onMessage(message);
  }

  // A coordinator that is frozen, or whose machine is gone, closes nothing.
  async checkSilence() {
    const {socket} = this;
    if (!socket || this.isAsking || performance.now() - this.heardAt < SILENCE_MAX_MS) return;
    this.isAsking = true;
    const answer = await asked('livez');
    this.isAsking = false;
    if (answer) {
      this.heardAt = performance.now();
    } else {
      socket.close();
      this.lost(socket);
    }
  }

  // Why a WebSocket was refused is not shown, so we ask as an ordinary request would.
  async lost(socket) {
    if (socket !== this.socket) return;
    this.socket = null;
    const wasLive = this.isLive;
    this.isLive = false;
    if (!wasLive && (await asked('api/v1/role'))?.status === 401) {
      this.onState('locked');
    } else {
      this.retryLater();
    }
  }

  retryLater() {
    const longest = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 1.8 ** this.failures);
    const delay = longest * (0.8 + 0.2 * Math.random());
    ++this.failures;
    this.onState('waiting', performance.now() + delay);
    this.timer = setTimeout(() => this.retry(), delay);
  }

  retry() {
    clearTimeout(this.timer);
    this.timer = null;
    this.open();
  }

  tryNow() {
    if (this.timer !== null) this.retry();
  }

  // Gives why the token was refused; empty: it was not.
  async logIn(token) {
    const answer = await posted('login', {token});
    if (!answer?.ok) return whyRefused(answer);
    this.open();
    return '';
  }
}

// The response without its body; null: there was none in time.
async function asked(path) {
  const limit = AbortSignal.timeout(SILENCE_MAX_MS);
  const answer = await fetch(path, {cache: 'no-store', signal: limit}).catch(() => null);
  await answer?.body?.cancel();
  return answer;
}
