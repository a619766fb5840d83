// The state of a store as it goes to an engine: packed a piece at a time, so that whoever makes it answers calls meanwhile.
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { EntryPlace } from '../coordination/shared-log.ts'
import { inState, lastLine } from '../coordination/sqlite/whole-state.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_SNAPSHOT_PART_BYTES, FLEET_SNAPSHOT_PARTS_MAX, FLEET_STATE_BYTES_MAX } from '../limits.ts'

/** Read and written in one go; a fraction of a millisecond. */
const PIECE_CHARS = 64 << 10
export const PACKED_BYTES_MAX = FLEET_SNAPSHOT_PART_BYTES * FLEET_SNAPSHOT_PARTS_MAX

/** Refuses what nobody could read again: the entries below a snapshot go. */
export function packedState(path: string): Promise<{ readonly at: EntryPlace; readonly packed: Buffer }> {
  return inState(path, async (at, lines) => {
    const packed: Buffer[] = []
    await pipeline(pieces(lines), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
      let bytes = 0
      for await (const chunk of chunks) {
        bytes += chunk.byteLength
        if (bytes > PACKED_BYTES_MAX) throw tooLarge(`packed, limit ${PACKED_BYTES_MAX}`, bytes)
        packed.push(chunk)
      }
    })
    return { at, packed: Buffer.concat(packed) }
  })
}

async function* pieces(lines: Iterable<string>): AsyncGenerator<string, void> {
  const hash = createHash('sha256')
  let [piece, rows, bytes] = ['', -1, 0]
  const taken = (): string => {
    const text = piece
    piece = ''
    hash.update(text)
    bytes += Buffer.byteLength(text)
    if (bytes > FLEET_STATE_BYTES_MAX) throw tooLarge(`limit ${FLEET_STATE_BYTES_MAX}`, bytes)
    return text
  }
  for (const line of lines) {
    piece += `${line}\n`
    rows += 1
    if (piece.length < PIECE_CHARS) continue
    yield taken()
    await turn()
  }
  yield taken()
  yield lastLine(rows, hash.digest('hex'))
}

function tooLarge(limit: string, bytes: number): HeimdallError {
  return new HeimdallError('JSON_TOO_LARGE', `the state of this project has ${bytes} bytes or more, ${limit}`, {
    hint: 'no snapshot of it is kept, and the log of its fleet grows',
  })
}
