// Lines per second into the append log, unflushed and flushed, against bare loops of Node's own appendFile.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAppendLog } from '../src/storage/append-log.ts'
import { runBench, type Side } from './support/bench.ts'

const LINE = JSON.stringify({ at: '2026-01-02T03:04:05Z', kind: 'tool_call', tool: 'edit', detail: 'x'.repeat(120) })

await runBench({
  name: 'append-log',
  about: `lines of ${LINE.length} bytes appended to one file`,
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'heimdall-bench-'))
    let files = 0

    /** Each measurement has a file of its own, so that none pays for the size of an earlier one. */
    const side = (name: string, lines: number, write: (path: string, lines: number) => void | Promise<void>): Side => ({
      name,
      async measure() {
        files += 1
        const path = join(folder, String(files))
        const before = performance.now()
        await write(path, lines)
        const tookMs = performance.now() - before
        rmSync(path)
        return (lines / tookMs) * 1_000
      },
    })

    const unflushed = side('append log', 20_000, (path, lines) => {
      const log = openAppendLog(path)
      for (let n = 0; n < lines; n += 1) log.append(LINE)
      log.close()
    })
    const oneByOne = side('append log, one by one', 100, async (path, lines) => {
      const log = openAppendLog(path)
      for (let n = 0; n < lines; n += 1) await log.appendDurably(LINE)
      log.close()
    })
    const together = side('append log, 64 callers', 3_200, async (path, lines) => {
      const log = openAppendLog(path)
      const caller = async (): Promise<void> => {
        for (let n = 0; n < lines / 64; n += 1) await log.appendDurably(LINE)
      }
      await Promise.all(Array.from({ length: 64 }, caller))
      log.close()
    })
    const bare = side('fs.promises.appendFile', 2_000, async (path, lines) => {
      for (let n = 0; n < lines; n += 1) await appendFile(path, `${LINE}\n`)
    })
    const bareSync = side('fs.appendFileSync', 10_000, (path, lines) => {
      for (let n = 0; n < lines; n += 1) appendFileSync(path, `${LINE}\n`)
    })
    const bareFlushed = side('fs.promises.appendFile, flush', 100, async (path, lines) => {
      for (let n = 0; n < lines; n += 1) await appendFile(path, `${LINE}\n`, { flush: true })
    })

    return {
      comparisons: [
        {
          what: 'unflushed',
          unit: 'lines/s',
          rounds: 9,
          ours: unflushed,
          peers: [
            { ...bare, goal: { atLeast: 1 } },
            // No goal: it blocks as ours does, but does not look whether a dying neighbour tore the line before.
            bareSync,
          ],
        },
        {
          what: 'flushed, one line at a time',
          unit: 'lines/s',
          rounds: 15,
          ours: oneByOne,
          // Both wait for the medium; ours must not add to it.
          peers: [{ ...bareFlushed, goal: { atLeast: 0.8 } }],
        },
        {
          what: 'flushed, 64 callers sharing flushes',
          unit: 'lines/s',
          rounds: 9,
          ours: together,
          peers: [{ ...bareFlushed, goal: { atLeast: 5 } }],
        },
      ],
      cleanup: () => rmSync(folder, { recursive: true }),
    }
  },
})
