// Holds the line for all tabs of a browser: a worker that lives as long as one of them does.
import { Line, type LineWish } from './line.ts'

/** What a tab says; `null` when it goes. */
export type LineAsk = LineWish | null

const lines = new Map<string, Line>()

function attend(port: MessagePort): void {
  let joined: Line | undefined
  port.onmessage = ({ data: wish }: MessageEvent<LineAsk>) => {
    if (wish === null) {
      joined?.leave(port)
      joined = undefined
      return
    }
    const line = lines.get(wish.address) ?? new Line()
    lines.set(wish.address, line)
    joined = line
    line.join(port, wish, (news) => port.postMessage(news))
  }
}

// A worker's own scope, which the types of a page do not know.
const scope = self as unknown as { onconnect: (event: MessageEvent) => void }
scope.onconnect = ({ ports }) => {
  for (const port of ports) attend(port)
}
