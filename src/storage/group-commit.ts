// Many waiting writers, one flush: whoever comes while a flush is under way shares the next one.

export interface GroupCommit {
  /** Resolves when a flush that began after this call has succeeded. */
  flushed(): Promise<void>
  /** Calls back once no flush is under way or wanted; at once when there is none. */
  whenIdle(then: () => void): void
}

export function groupCommit(flush: () => Promise<void>): GroupCommit {
  let waiting: { readonly resolve: () => void; readonly reject: (reason: unknown) => void }[] = []
  let idleCalls: (() => void)[] = []
  let isBusy = false

  const run = async (): Promise<void> => {
    // One turn of the microtask queue, so that all who write in the same breath share the first flush.
    await Promise.resolve()
    while (waiting.length > 0) {
      const covered = waiting
      waiting = []
      try {
        await flush()
        for (const { resolve } of covered) resolve()
      } catch (error) {
        // The kernel reports a failed flush once and then forgets the pages. Whoever wrote before the report came
        // may be among them, so those who were waiting for the next flush have lost as well.
        const lost = [...covered, ...waiting]
        waiting = []
        for (const { reject } of lost) reject(error)
      }
    }
    isBusy = false
    const calls = idleCalls
    idleCalls = []
    for (const call of calls) call()
  }

  return {
    flushed: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        if (isBusy) return
        isBusy = true
        void run()
      }),
    whenIdle(then) {
      if (isBusy) idleCalls.push(then)
      else then()
    },
  }
}
