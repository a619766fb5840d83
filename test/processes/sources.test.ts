// What the system says of processes, asked in each of our ways and compared with what the kernel's own files show.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readMachine } from '../../src/coordination/moment.ts'
import { whoActs } from '../../src/person.ts'
import { bootId } from '../../src/boot-id.ts'
import { commandLine, isSame, lookAside, lookAtProcesses, readStat } from '../../src/processes.ts'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import { settle } from '../../src/sessions/settle.ts'
import { needs } from '../support/needs.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning, startProgram, waitForDeath } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { processesOf, sh, start } from '../supervisor/support/session.ts'

/** Fields of /proc/PID/stat behind the name, counted as proc(5) does: 4 is the parent. */
const field = (pid: number, n: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[n - 3])

eachSource(
  (source) => {
    test('parent, group, session and terminal of a process with a terminal', async () => {
      const session = await start(['sleep', '1000'])
      // Between fork and exec it is its parent's, and has no terminal yet.
      await until('the program', () => commandLine(session.pid) === 'sleep 1000')
      expect(readStat(session.pid)).toMatchObject({
        pid: session.pid,
        ppid: session.supervisor_pid,
        pgrp: field(session.pid, 5),
        session: field(session.pid, 6),
        ttyNr: field(session.pid, 7),
        isZombie: false,
      })
      expect(lookAtProcesses().childrenOf(session.supervisor_pid)).toContain(session.pid)
      expect((await lookAside()).childrenOf(session.supervisor_pid)).toContain(session.pid)
    })

    test('a process without a terminal, one that has ended and is not waited for, one that is gone', async () => {
      // By the time its child ends, the shell is replaced by a program that never asks for that.
      const parent = startProgram(['sh', '-c', 'exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 1000'])
      const zombie = Number(await parent.waitForLine(/^\d+$/))
      await until('the shell to be replaced', () => commandLine(parent.pid) === 'sleep 1000')
      parent.child.stdin?.end()
      expect(readStat(parent.pid)).toMatchObject({ ttyNr: 0, pgrp: parent.pid, session: parent.pid })
      await until('a zombie', () => readStat(zombie)?.isZombie)
      const { startTicks } = readStat(zombie) ?? { startTicks: 0 }
      expect(isSame({ pid: zombie, startTicks })).toBe(false)
      parent.kill('SIGKILL')
      await waitForDeath(parent.pid)
      await parent.ended
      expect([readStat(parent.pid), commandLine(parent.pid)]).toEqual([undefined, ''])
    })

    test.runIf(source === 'proc')('a process whose first thread has ended runs until the last one has', async () => {
      needs('python3')
      const program = startProgram([
        'python3',
        '-c',
        [
          'import ctypes, sys, threading',
          'threading.Thread(target=sys.stdin.readline).start()',
          'ctypes.CDLL(None).pthread_exit(None)',
        ].join('\n'),
      ])
      await until('the end of the first thread', () => / Z /.test(readFileSync(`/proc/${program.pid}/stat`, 'latin1')))
      expect([readStat(program.pid)?.isZombie, isRunning(program.pid)]).toEqual([false, true])
      program.send('')
      await program.ended
      expect([readStat(program.pid), isRunning(program.pid)]).toEqual([undefined, false])
    })

    test('who acts in a session is the session', async () => {
      const session = await start(['sleep', '1000'])
      // Between fork and exec it has no terminal yet.
      await until('the program', () => commandLine(session.pid) === 'sleep 1000')
      expect(whoActs(session.pid)).toEqual({
        person: false,
        reason: `run by session t (pid ${session.supervisor_pid})`,
      })
    })

    test('a pid names the same process only together with its start', () => {
      const { startTicks } = readStat(process.pid) ?? { startTicks: 0 }
      expect(isSame({ pid: process.pid, startTicks })).toBe(true)
      expect(isSame({ pid: process.pid, startTicks: startTicks - 1_000 })).toBe(false)
    })

    test('the boot is the kernel’s, also for coordination', () => {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      expect([bootId(), readMachine().boot]).toEqual([boot, boot])
    })

    test('a mark is found in the environment alone, whole or by its beginning', async () => {
      const marked = startProgram(['sleep', '1000'], { env: { FIRST: 'a b', MARK: 'one two', LAST: 'z' } })
      // It speaks of the mark, as a person does who looks for it.
      const speaking = startProgram(['sh', '-c', 'echo up; sleep 1000 # MARK=one two'])
      await speaking.waitForLine('up')
      const table = await until('both', () => {
        const seen = lookAtProcesses()
        return seen.commandWords(marked.pid).join(' ') === 'sleep 1000' && seen
      })
      const has = (entry: string): boolean[] => [marked, speaking].map(({ pid }) => table.hasInEnvironment(pid, entry))
      const isShown = source !== 'ps-without-environment'
      expect(has('MARK=')).toEqual([isShown, false])
      expect(has('MARK=one two\0')).toEqual([isShown, false])
      expect(has('MARK=one tw\0')).toEqual([false, false])
      expect(has('ARK=one')).toEqual([false, false])
    })

    test('what a killed supervisor left is ended; where no environment is shown, whoever stayed in the group or below the child', async () => {
      const script = `trap "" HUP; sleep 931 & (setsid sh -c 'sleep 932; :' &); echo up; while :; do sleep 933; done`
      const session = await start(sh(script))
      const client = await session.connect()
      client.subscribe()
      await client.waitForOutput('up')
      const tree = await until('the tree', () => {
        const found = processesOf(session)
        return found.length >= 5 && found
      })
      process.kill(session.supervisor_pid, 'SIGKILL')
      await session.gone()
      expect(await settle(session.dir, 't', { by: 'a test' })).toBe('settled')
      const left = tree.filter(isRunning)
      for (const pid of left) process.kill(pid, 'SIGKILL')
      // The orphan with a session of its own, and what it runs.
      expect(left).toHaveLength(source === 'ps-without-environment' ? 2 : 0)
      expect(readExitRecord(session.dir, 't')).toMatchObject({ reason: 'lost' })
    })
  },
  ['proc', 'ps', 'ps-without-environment'],
)
