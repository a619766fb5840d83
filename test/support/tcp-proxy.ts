// A line between two ends of a TCP connection that a test can cut at any byte, slow down, stop and mend.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  /** From here on: cut after so many bytes of the answers, or of the questions, counted over all connections. What is to be done with the line once it is cut may be said. */
  cutAfter(side: 'questions' | 'answers', bytes: number, then?: () => void): void
  /** Each way, in milliseconds. */
  delay(ms: number): void
  /** Bytes stay where they are, in both directions; connections stand. */
  stop(): void
  /** Whole again, for new connections and for those that were stopped. */
  mend(): void
  /** Bytes that have passed since the last `mend`. */
  passed(side: 'questions' | 'answers'): number
  close(): void
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const cut: Record<'questions' | 'answers', number> = { questions: Infinity, answers: Infinity }
  const passed = { questions: 0, answers: 0 }
  let delayMs = 0
  let isStopped = false
  let onCut: (() => void) | undefined
  const held: (() => void)[] = []
  const pass = (side: 'questions' | 'answers', from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      const act = (): void => {
        const left = cut[side] - passed[side]
        const part = chunk.subarray(0, Math.max(0, Math.min(chunk.byteLength, left)))
        passed[side] += part.byteLength
        if (part.byteLength > 0 && !to.destroyed) to.write(part)
        if (part.byteLength === chunk.byteLength) return
        // What was let through arrives; nothing else does.
        to.end(() => to.destroy())
        from.destroy()
        onCut?.()
      }
      if (isStopped) held.push(act)
      else if (delayMs === 0) act()
      else setTimeout(act, delayMs)
    })
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true)
      sockets.add(one)
      // A cut line is what the test is about.
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        setTimeout(() => other.destroy(), delayMs)
      })
    }
    pass('questions', near, far)
    pass('answers', far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cutAfter: (side, bytes, then) => {
      cut[side] = passed[side] + bytes
      onCut = then
    },
    delay: (ms) => {
      delayMs = ms
    },
    stop: () => {
      isStopped = true
    },
    mend() {
      isStopped = false
      onCut = undefined
      cut.questions = Infinity
      cut.answers = Infinity
      passed.questions = 0
      passed.answers = 0
      for (const act of held.splice(0)) act()
    },
    passed: (side) => passed[side],
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
