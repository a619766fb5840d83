// Answering a wait at a terminal by one of the commands that answer it, as if the person had typed that.
import type { Wait } from '../spine/fleet/fleet.ts'
import type { Context } from './command.ts'
import { readTypedLine } from './stdin.ts'

/** Shows what can be done and does what is chosen; looking is followed by the question again. */
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

/** The exit code of the command; what it has to say, it has said. */
export async function runAnswer(context: Context, [bin, ...words]: readonly [string, ...string[]]): Promise<number> {
  const { main } = await import('./main.ts')
  const { stdin, stdout, stderr } = context
  return await main(bin, words, context.env, context.cwd, { stdin, stdout, stderr })
}
