// Starts a worker for a task that has none: asks once which host, how many tasks at a time and which permissions, and remembers the answer.
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { pause } from '../../clock.ts'
import { readJsonIfThere, writePrivate } from '../../dispatch/json-file.ts'
import { localPeers } from '../../dispatch/peers.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { TASK_LOOK_MS, WORKER_START_MS } from '../../limits.ts'
import { whoActs } from '../../person.ts'
import { quoted } from '../../quoted.ts'
import { isCommand } from '../../sessions/command.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import type { Context } from '../command.ts'
import { readTypedLine } from '../stdin.ts'

const choiceSchema = z.object({
  name: z.string(),
  slots: z.int().min(1),
  command: z.array(z.string()).min(1),
})

type Choice = z.infer<typeof choiceSchema>

interface Permission {
  readonly what: string
  readonly words: readonly string[]
}

/** Hosts that can be workers, and what their agents may be allowed, the least first. */
const HOSTS: readonly {
  readonly program: string
  readonly title: string
  readonly permissions: readonly Permission[]
}[] = [
  {
    program: 'claude',
    title: 'Claude Code',
    permissions: [
      {
        what: 'edit files in its worktree, and commit them (git add, git commit, and the git hooks that these run)',
        words: ['--permission-mode', 'acceptEdits', '--allowedTools=Bash(git add:*),Bash(git commit:*)'],
      },
      { what: 'edit files and run any command without asking', words: ['--permission-mode', 'bypassPermissions'] },
      { what: 'only what its own settings allow', words: [] },
    ],
  },
  {
    program: 'codex',
    title: 'Codex',
    permissions: [
      {
        what: 'edit files and run commands in its worktree, without network',
        words: ['-c', 'sandbox_mode="workspace-write"', '-c', 'approval_policy="never"'],
      },
      {
        what: 'run any command without a sandbox',
        words: ['-c', 'sandbox_mode="danger-full-access"', '-c', 'approval_policy="never"'],
      },
      { what: 'only what its own settings allow', words: [] },
    ],
  },
]

/** A worker that was started for tasks ends when it had none for this long. */
const IDLE = '30m'

const choicePath = (dir: string): string => join(dir, 'worker-choice.json')

/** True when a worker takes tasks now. Starts one only for a human: an agent must not choose the permissions of another. */
export async function offerWorker(
  context: Context,
  dir: string,
  running: readonly string[],
  isAsked: boolean,
): Promise<boolean> {
  const acting = whoActs()
  if (!acting.person) {
    context.note(`no worker is started: that needs a human at a terminal (${acting.reason})`)
    return false
  }
  const known = isAsked ? undefined : choiceSchema.safeParse(readJsonIfThere(choicePath(dir))).data
  const choice = known ?? (await asked(context))
  if (choice === undefined || running.includes(choice.name)) return choice !== undefined
  context.note(`starting worker ${choice.name}: ${quotedWords(choice.command)}`)
  if (known !== undefined) context.note('--choose-worker asks again which worker to start')
  await started(context, dir, choice)
  writePrivate(choicePath(dir), JSON.stringify(choice))
  return true
}

const quotedWords = (words: readonly string[]): string => escapeControls(words.map((word) => quoted(word)).join(' '))

async function asked(context: Context): Promise<Choice | undefined> {
  const { stdin, stderr, env, cwd } = context
  const hosts = HOSTS.filter(({ program }) => isCommand(program, cwd, env))
  if (context.json || !stdin.isTTY || !stderr.isTTY || hosts.length === 0) return undefined
  const host = await oneOf(context, 'No worker runs here. Start one?', [
    ...hosts.map((one) => ({ text: one.title, value: one })),
    { text: 'No, the task waits', value: undefined },
  ])
  if (host === undefined) return undefined
  const permission = await oneOf(
    context,
    `What may ${host.title} do without asking?`,
    host.permissions.map((one) => ({ text: one.what, value: one })),
  )
  stderr.write('How many tasks at a time? [1] ')
  const slots = Number((await readTypedLine(stdin)) ?? '1')
  return {
    name: host.program,
    slots: Number.isInteger(slots) && slots > 0 ? slots : 1,
    command: [host.program, ...(permission?.words ?? [])],
  }
}

/** The first unless another number is typed; the last at the end of input. */
async function oneOf<T>(
  { stdin, stderr }: Context,
  question: string,
  choices: readonly { readonly text: string; readonly value: T }[],
): Promise<T | undefined> {
  const lines = choices.map(({ text }, index) => `  ${index + 1}  ${text}`)
  stderr.write(`${question}\n${lines.join('\n')}\n[1] `)
  const line = await readTypedLine(stdin)
  if (line === undefined) return choices.at(-1)?.value
  return (choices[line === '' ? 0 : Number(line) - 1] ?? choices.at(-1))?.value
}

/** In a process of its own, so that the task outlives this command. */
async function started({ cwd, env, clock }: Context, dir: string, { name, slots, command }: Choice): Promise<void> {
  const log = join(dir, `worker-${name}.log`)
  writePrivate(log, '')
  const fd = openSync(log, 'a')
  const args = ['worker', 'start', '--name', name, '--slots', String(slots), '--idle', IDLE, '--', ...command]
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...args], {
    cwd,
    env: { ...env },
    stdio: ['ignore', fd, fd],
    detached: true,
  })
  closeSync(fd)
  child.unref()
  const until = clock.monoMs() + WORKER_START_MS
  while (!localPeers(dir, 'worker').some((one) => one.name === name)) {
    if (child.exitCode !== null || clock.monoMs() >= until) {
      const lines = (readFileIfThere(log)?.toString('utf8') ?? '').trim().split('\n')
      throw new HeimdallError('WORKER_NOT_FOUND', `worker ${name} did not start: ${escapeControls(lines[0] ?? '')}`, {
        hint: `heimdall worker start -- ${quotedWords(command)}`,
      })
    }
    await pause(clock, TASK_LOOK_MS)
  }
}
