// A pipe with no room for run_end when the shim ends, because its reader is behind: the line counted as taken and was lost.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { isErrno } from '../../src/errors.ts'
import { openEventFile } from '../../src/runs/event-file.ts'
import { EventText } from '../../src/events/event-text.ts'
import { EventWriter } from '../../src/runs/event-writer.ts'
import { soloRecord } from '../../src/runs/record.ts'
import type { RunStart } from '../../src/events/types.ts'
import { temporaryFolder } from '../support/project.ts'
import { parseLines } from '../support/shim-client.ts'

const start: RunStart = {
  started_at: '2026-01-02T03:04:05.000Z',
  mode: 'guardrails',
  policy: { policy_id: 'p', policy_version: '1', policy_hash: 'none' },
}

/** Reads until the last writer has closed the pipe, and lets others run while there is nothing. */
async function readAll(fd: number): Promise<string> {
  const block = Buffer.alloc(4_096)
  const blocks: Buffer[] = []
  for (;;) {
    await setImmediate()
    try {
      const count = readSync(fd, block, 0, block.length, null)
      if (count === 0) return Buffer.concat(blocks).toString()
      blocks.push(Buffer.from(block.subarray(0, count)))
    } catch (error) {
      if (!isErrno(error, 'EAGAIN')) throw error
    }
  }
}

// From well below to above what a pipe holds, so that at one of them the rest fits and run_end does not.
test.each(Array.from({ length: 20 }, (_, n) => 63_000 + n * 200))(
  'a pipe with %i bytes in it is closed when its reader has everything',
  async (bytes) => {
    const path = join(temporaryFolder(), 'events')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const file = openEventFile(path)
    const source = { host_id: 'h', proc_id: 'p', shim_id: 's' }
    const identity = { run_id: 'r', agent_id: 'a', client: 'custom', env: 'dev', source } as const
    const text = new EventText(identity, () => systemClock.wallMs())
    const record = { ...soloRecord(text, start, systemClock, file.out), close: file.close }
    const onTrouble = (error: Error | null): void => expect(error).toBeNull()
    const writer = new EventWriter({ record, lines: text.lines, clock: systemClock, onTrouble })
    text.shimHealth({ text: 'x'.repeat(bytes) })
    writer.added()
    const closed = writer.close('SUCCEEDED')
    const events = parseLines(await readAll(reader))
    await closed
    closeSync(reader)
    expect(events.map(({ type }) => type)).toEqual(['run_start', 'shim_health', 'run_end'])
  },
)
