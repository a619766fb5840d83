// Answers a wait at a terminal by running one of its commands.
import type { Wait } from '../spine/fleet/fleet.ts'
import type { Context } from './command.ts'
import { readTypedLine } from './stdin.ts'

/** Lists the answers and runs the chosen one; after one that only looks, asks again. */
export async function askAnswer(context: Context, { answers }: Wait): Promise<'answered' | 'skipped' | 'quit'> {
  const choices = answers.map(({ label, command }, i) => `  ${i + 1}  ${label}  ${context.style.color.dim(command)}`)
  for (;;) {
    context.note([...choices, '  s  the next one', '  q  quit'].join('\n'))
    context.stdout.write('? ')
    const word = await readTypedLine(context.stdin)
    if (word === undefined || word === 'q') return 'quit'
    if (word === 's' || word === '') return 'skipped'
    const answer = answers[Number(word) - 1]
    if (answer === undefined) continue
    await runAnswer(context, answer.argv)
    if (answer.act !== 'look') return 'answered'
  }
}

/** Returns the exit code of the command, which prints its own output. */
export async function runAnswer(context: Context, [bin, ...words]: readonly [string, ...string[]]): Promise<number> {
  const { main } = await import('./main.ts')
  const { stdin, stdout, stderr } = context
  return await main(bin, words, context.env, context.cwd, { stdin, stdout, stderr })
}
