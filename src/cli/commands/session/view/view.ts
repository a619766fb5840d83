// What every way of attaching has in common: how it is left.

/** `id` is the session's at the end, where the view has seen it change. */
export type Leave = { readonly id?: string } & (
  | { readonly reason: 'detached' | 'answered' | 'sent away' | 'SIGTERM' | 'SIGHUP' | 'end of input' }
  | { readonly reason: 'exited'; readonly code: number }
)

/** Resolves on the first of the ways out; later ones change nothing. */
export class WayOut {
  readonly left: Promise<Leave>
  #resolve: (leave: Leave) => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  readonly #undo: (() => void)[] = []

  constructor() {
    this.left = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  leave(leave: Leave): void {
    this.#resolve(leave)
  }

  fail(error: Error): void {
    this.#reject(error)
  }

  /** Listens until `close`; signals are the way out that a person at another terminal takes. */
  onSignal(signal: NodeJS.Signals, act: () => void): void {
    process.on(signal, act)
    this.#undo.push(() => process.off(signal, act))
  }

  /** Leaves when what was waited for has come. */
  onAnswer(answered: AbortSignal | undefined): void {
    const leave = (): void => this.leave({ reason: 'answered' })
    answered?.addEventListener('abort', leave)
    this.#undo.push(() => answered?.removeEventListener('abort', leave))
  }

  close(): void {
    for (const undo of this.#undo) undo()
  }
}
