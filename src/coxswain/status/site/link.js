// The connection to the feed: opens it again when it is lost, later and later, and asks for a token
// when the server wants one.

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 10000;

class Link {
  // `onMessage` is given each message; `onState` gets `live`, `connecting`, `waiting` with the
  // time of the next try, and `locked`.
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.failures = 0;
    this.isLive = false;
    this.timer = null;
    window.addEventListener('online', () => this.tryNow());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.tryNow();
    });
  }

  open() {
    this.onState('connecting');
    const url = new URL('api/v1/live', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.addEventListener('message', (event) => this.take(event.data));
    socket.addEventListener('close', () => this.lost());
  }

  take(text) {
    const message = JSON.parse(text);
    if (message.type === 'state') {
      this.failures = 0;
      this.isLive = true;
      this.onState('live');
    }
    this.onMessage(message);
  }

  // Why a WebSocket was refused is not shown, so we ask as an ordinary request would.
  async lost() {
    const wasLive = this.isLive;
    this.isLive = false;
    if (!wasLive && (await isLocked())) {
      this.onState('locked');
      return;
    }
    this.retryLater();
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
    const answer = await fetch('login', {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({token}),
    }).catch(() => null);
    if (!answer?.ok) return whyRefused(answer);
    this.open();
    return '';
  }
}

async function isLocked() {
  const answer = await fetch('api/v1/role', {cache: 'no-store'}).catch(() => null);
  await answer?.body?.cancel();
  return answer?.status === 401;
}
