// Every disk that a power cut can leave behind: each prefix of the operations, with each part of what was not yet flushed.
import { type DiskImage, type DiskOp, applyNames, applyWrite, ROOT } from './simulated-disk.ts'

export interface CrashState {
  readonly image: DiskImage
  /** What the program had said to the outside before the power went. */
  readonly marks: readonly string[]
  /** For the message of a failing test: which operations reached the disk. */
  readonly story: string
}

/** With up to this many unflushed operations all subsets are tried; beyond it, those that lack or hold at most two. */
const ALL_SUBSETS_UP_TO = 10
const PAGE_BYTES = 4096

/**
 * A flush of a file makes its earlier content durable, a flush of a folder its earlier names; whatever is not
 * flushed may have reached the disk or not, each on its own, and the last write may have arrived in part.
 * Equal disks with equal marks come once.
 */
export function* crashStates(start: DiskImage, ops: readonly DiskOp[]): Generator<CrashState, void, void> {
  const seen = new Set<string>()
  for (let length = 0; length <= ops.length; length += 1) {
    const prefix = ops.slice(0, length)
    const marks = prefix.flatMap((op) => (op.type === 'mark' ? [op.label] : []))
    const pending = prefix.flatMap((op, index) => (isPending(prefix, op, index) ? [index] : []))
    for (const lost of subsets(pending))
      for (const { image, tear } of tornVariants(start, prefix, lost)) {
        const key = `${marks.length}|${fingerprint(image)}`
        if (seen.has(key)) continue
        seen.add(key)
        yield { image, marks, story: describe(prefix, lost, tear) }
      }
  }
}

function isPending(prefix: readonly DiskOp[], op: DiskOp, index: number): boolean {
  if (op.type !== 'write' && op.type !== 'names') return false
  const inode = op.type === 'write' ? op.inode : op.folder
  return !prefix.slice(index).some((later) => later.type === 'sync' && later.inode === inode)
}

function* subsets(items: readonly number[]): Generator<ReadonlySet<number>, void, void> {
  if (items.length <= ALL_SUBSETS_UP_TO) {
    for (let bits = 0; bits < 1 << items.length; bits += 1)
      yield new Set(items.filter((_, place) => bits & (1 << place)))
    return
  }
  const few = items.flatMap((a, i) => [[a], ...items.slice(i + 1).map((b) => [a, b])])
  for (const some of [[], ...few]) {
    yield new Set(some)
    yield new Set(items.filter((item) => !some.includes(item)))
  }
}

function* tornVariants(
  start: DiskImage,
  prefix: readonly DiskOp[],
  lost: ReadonlySet<number>,
): Generator<{ image: DiskImage; tear: string }, void, void> {
  yield { image: replay(start, prefix, lost), tear: '' }
  const last = prefix.findLastIndex(
    (op, index) => op.type === 'write' && isPending(prefix, op, index) && !lost.has(index),
  )
  const op = prefix[last]
  if (op?.type !== 'write') return
  const { byteLength } = op.bytes
  const toPage = PAGE_BYTES - (op.at % PAGE_BYTES)
  for (const kept of new Set(
    [1, byteLength - 1, Math.floor(byteLength / 2), toPage].filter((n) => n > 0 && n < byteLength),
  ))
    yield {
      image: replay(start, prefix, lost, { index: last, bytes: op.bytes.subarray(0, kept) }),
      tear: `, write ${last} cut to ${kept} of ${byteLength} bytes`,
    }
  // The size reached the disk, the content or its second half did not.
  for (const kept of [0, Math.floor(byteLength / 2)]) {
    const bytes = new Uint8Array(byteLength)
    bytes.set(op.bytes.subarray(0, kept))
    yield { image: replay(start, prefix, lost, { index: last, bytes }), tear: `, write ${last} zero from byte ${kept}` }
  }
}

function replay(
  start: DiskImage,
  prefix: readonly DiskOp[],
  lost: ReadonlySet<number>,
  torn?: { readonly index: number; readonly bytes: Uint8Array },
): DiskImage {
  const files = new Map(start.files)
  const folders = new Map([...start.folders].map(([inode, names]) => [inode, new Map(names)]))
  for (const [index, op] of prefix.entries()) {
    if (lost.has(index)) continue
    if (op.type === 'write') applyWrite(files, op.inode, op.at, torn?.index === index ? torn.bytes : op.bytes)
    else if (op.type === 'names') applyNames(folders, op.folder, op.changes)
  }
  return reachable({ files, folders })
}

/** What no name leads to is gone after the restart; a named inode of which nothing was written is empty. */
function reachable({ files, folders }: DiskImage): DiskImage {
  const kept: { files: Map<number, Uint8Array>; folders: Map<number, ReadonlyMap<string, number>> } = {
    files: new Map(),
    folders: new Map(),
  }
  const visit = (inode: number): void => {
    const names = folders.get(inode)
    if (names === undefined) {
      kept.files.set(inode, files.get(inode) ?? new Uint8Array())
      return
    }
    kept.folders.set(inode, names)
    for (const child of names.values()) visit(child)
  }
  visit(ROOT)
  return kept
}

function fingerprint({ files, folders }: DiskImage): string {
  return JSON.stringify([
    [...files].toSorted(([a], [b]) => a - b).map(([inode, bytes]) => [inode, Buffer.from(bytes).toString('latin1')]),
    [...folders]
      .toSorted(([a], [b]) => a - b)
      .map(([inode, names]) => [inode, [...names].map(String).toSorted((a, b) => (a < b ? -1 : 1))]),
  ])
}

function describe(prefix: readonly DiskOp[], lost: ReadonlySet<number>, tear: string): string {
  const steps = prefix.map((op, index) => {
    const what =
      op.type === 'write'
        ? `write ${op.inode} at ${op.at}: ${JSON.stringify(Buffer.from(op.bytes).toString('latin1').slice(0, 60))}`
        : JSON.stringify(op)
    return `${index} ${lost.has(index) ? 'LOST ' : ''}${what}`
  })
  return `power cut after ${prefix.length} operations${tear}\n${steps.join('\n')}`
}
