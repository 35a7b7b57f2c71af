let typing = 0;

/** Notes that something is being typed that must not go by itself, until the result is called. */
export function noteTyping(): () => void {
  typing++;
  return () => void typing--;
}

/** Whether anything is being typed that is worth keeping. */
export function isTyping(): boolean {
  return typing > 0;
}
