// What the coders of the demo have in common: a brief by reference, a commit, a result for whoever comes next.
import { loadCorpus, sectionOf } from '../../briefing/demo/corpus.ts'
import { ROLE } from '../../briefing/demo/three-briefings.ts'
import { HeimdallError } from '../../errors.ts'
import { DEMO_COMMIT_TRIES } from '../../limits.ts'
import { commandLine, mustSucceed } from '../command-reply.ts'
import type { DemoAgent } from './agent.ts'

/** Reads the brief of a task of the shipped plan; what it cost is in the token ledger, under the run of this agent. */
export async function readBrief(agent: DemoAgent, task: string): Promise<void> {
  const { plan, wave } = loadCorpus()
  const { symbols, capsules, facts } = taskOf(wave.tasks, task)
  const args = commandLine(['brief', 'build'], {
    task,
    spec: sectionOf(plan, task),
    symbols: symbols.join(','),
    capsules: capsules.join(','),
    facts: facts.join(','),
    invariants: wave.invariants,
    role: ROLE,
    'msg-id': `b-${task}`,
  })
  const { text } = mustSucceed(args, await agent.heimdall(args))
  const lines = String(text).split('\n')
  agent.say(`● brief of task ${task}: ${lines.length} lines, ${symbols.length} symbols, ${capsules.length} capsules\n`)
}

/** Ends a task: commits what was made, leaves a capsule, and says so. */
export async function finish(agent: DemoAgent, task: string, path: string): Promise<void> {
  const { wave } = loadCorpus()
  const { result } = taskOf(wave.tasks, task)
  await commit(agent, path, `${task}: ${result.what}`)
  const hash = await agent.git(['rev-parse', '--short', 'HEAD'])
  const args = commandLine(['done'], {
    task,
    status: 'pass',
    from: 'coder',
    what: result.what,
    where: result.where,
    depends: result.depends.join(','),
    criteria: result.criteria.join(','),
    commit: hash,
    role: ROLE,
    'msg-id': `r-${task}`,
  })
  await agent.launch('heimdall-task-result', args)
  const done = ['task', 'done', task, '--summary', `${result.what} (${hash})`]
  mustSucceed(done, await agent.heimdall(done))
  agent.say(`● task ${task} is done: ${result.what}`)
}

function taskOf<Task extends { readonly task: string }>(tasks: readonly Task[], name: string): Task {
  const found = tasks.find(({ task }) => task === name)
  if (found === undefined) throw new HeimdallError('INTERNAL', `the corpus has no task ${name}`)
  return found
}

/** All agents share the checkout and its index, which git locks for a moment. */
async function commit(agent: DemoAgent, path: string, message: string): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      await agent.git(['add', '--', path])
      await agent.git(['commit', '--quiet', '--message', message, '--', path])
      return
    } catch (error) {
      if (tries === DEMO_COMMIT_TRIES || !(error instanceof Error) || !error.message.includes('.lock')) throw error
    }
}
