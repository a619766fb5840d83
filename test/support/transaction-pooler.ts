// A pooler as PgBouncer is in transaction mode: each transaction of a client may get another connection to the server, and nothing of a session is kept between them.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Pooler {
  readonly port: number
  close(): void
}

const READY = 'Z'.charCodeAt(0)
const IDLE = 'I'.charCodeAt(0)
/** Messages of a client that a server answers with "ready". */
const ASKS = new Set(['Q', 'S'].map((letter) => letter.charCodeAt(0)))

/** Whole messages out of a stream: a letter and a length each, the first of a client without the letter. */
function messages(onMessage: (letter: number, bytes: Buffer) => void, isGreeted: boolean): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let hasLetter = isGreeted
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const at = hasLetter ? 1 : 0
      if (rest.length < at + 4) return
      const end = at + rest.readUInt32BE(at)
      if (rest.length < end) return
      const bytes = rest.subarray(0, end)
      rest = rest.subarray(end)
      onMessage(hasLetter ? (bytes[0] ?? 0) : 0, bytes)
      hasLetter = true
    }
  }
}

/** As PgBouncer says it: one code for everything that is its own. */
const refusal = (words: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${words}\0\0`)
  const head = Buffer.from('E....')
  head.writeUInt32BE(fields.byteLength + 4, 1)
  return Buffer.concat([head, fields])
}

/** Of the first message of a client. */
const userIn = (bytes: Buffer): string => /\0user\0([^\0]*)\0/.exec(`\0${bytes.subarray(8).toString()}`)?.[1] ?? ''

/** Two connections to the server for each client, which take turns. Where users are given it knows no others, as with a list in a file. */
export async function startTransactionPooler(target: number, users?: readonly string[]): Promise<Pooler> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const backs = [0, 1].map(() => connect(target, '127.0.0.1'))
    let turn = 0
    let ready = 0
    /** Everything up to the next "ready" goes to one of them. */
    let waiting: { readonly letter: number; readonly bytes: Buffer }[] = []
    let isBusy = false
    const go = (): void => {
      while (!isBusy && ready === backs.length && waiting.length > 0) {
        const [first] = waiting.splice(0, 1)
        if (first === undefined) return
        isBusy = ASKS.has(first.letter)
        backs[turn]?.write(first.bytes)
      }
    }
    const onClient = messages((letter, bytes) => {
      if (letter === 0 && users?.includes(userIn(bytes)) === false) client.end(refusal('no such user'))
      else if (letter === 0) for (const back of backs) back.write(bytes)
      else waiting.push({ letter, bytes })
      go()
    }, false)
    for (const [n, back] of backs.entries()) {
      let isGreeted = false
      back.on(
        'data',
        messages((letter, bytes) => {
          // The client is greeted once: by the last of them, which is told to be ready when all are.
          const isLastReady = letter === READY && ready === backs.length - 1
          if (isGreeted || isLastReady || (n === backs.length - 1 && letter !== READY)) client.write(bytes)
          if (letter !== READY) return
          if (isGreeted) {
            // In the middle of a transaction the client keeps its connection.
            if (bytes[5] === IDLE) turn = (turn + 1) % backs.length
            isBusy = false
          } else {
            isGreeted = true
            ready += 1
          }
          go()
        }, true),
      )
    }
    client.on('data', onClient)
    for (const one of [client, ...backs]) {
      sockets.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        sockets.delete(one)
        for (const other of [client, ...backs]) other.destroy()
        waiting = []
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
