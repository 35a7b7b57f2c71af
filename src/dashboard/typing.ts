let typing = 0;

/** Notes that something is being typed that must not be lost, until the returned function is called. */
export function noteTyping(): () => void {
  typing++;
  return () => void typing--;
}

/** Whether anything is being typed that must not be lost. */
export function isTyping(): boolean {
  return typing > 0;
}
