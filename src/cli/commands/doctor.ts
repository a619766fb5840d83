// `heimdall doctor`: runs the checks in spine/doctor and prints what is wrong and how to fix it.
import { type Command, command } from '../command.ts'
import { checkLines } from '../render/check-lines.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall doctor', 'sub doctor'],
    summary: 'Check the installation, and say how to fix problems',
    about: 'Exit code 1 if a check fails. Hooks of a host pass only after the host has called them.',
    flags: {
      fix: { help: 'repair what needs no decision: modes of folders, our own hooks, lost runs' },
      security: { help: 'also check who can read our files, and which calls bypass the shim' },
      all: { help: 'also list the checks that passed' },
    },
    examples: {
      'heimdall doctor': 'checks Node.js, native modules, folders, settings, stores, git and hosts',
      'heimdall doctor --fix': 'repairs what it can, and checks again',
      'heimdall doctor --security --json': 'all checks, as JSON',
    },
    output: 'checks: list of {check, state: ok, warn or fail, found, fix, fixed (true if --fix repaired it)}',
    run: async (context, { flags }) => {
      const { runChecks } = await import('../../spine/doctor/doctor.ts')
      const checks = await runChecks(context, { fixes: flags.fix === true, security: flags.security === true })
      return {
        data: { checks },
        text: checkLines(context.style, checks, flags.all === true),
        exit: checks.some(({ state }) => state === 'fail') ? 1 : 0,
      }
    },
  }),
]
