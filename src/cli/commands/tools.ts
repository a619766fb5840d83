// Small commands: `heimdall completion`, `man`, `hash` and `version`.
import { printable } from '../../ids.ts'
import { type Command, command } from '../command.ts'
import { ABOUT, allCommands } from '../nouns.ts'
import { readAll } from '../stdin.ts'
import { VERSION } from '../version.ts'
import { usageError } from '../usage-error.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall completion'],
    summary: 'Print a completion script for bash, zsh or fish',
    args: [{ name: 'shell', help: 'bash, zsh or fish' }],
    examples: {
      'source <(heimdall completion bash)': 'completes all launchers in this shell',
      'heimdall completion fish > ~/.config/fish/completions/heimdall.fish': 'installs it for fish',
    },
    output: 'shell, script',
    run: async (_context, { args: { shell } }) => {
      const { completionScript, isShell, SHELLS } = await import('../render/completion.ts')
      if (!isShell(shell)) throw usageError(`unknown shell ${printable(shell)}`, `use ${SHELLS.join(', ')}`)
      const script = completionScript(await allCommands(), shell)
      return { data: { shell, script }, text: script }
    },
  }),
  command({
    names: ['heimdall man'],
    summary: 'Print the manual page in roff',
    examples: { 'heimdall man | man -l -': 'shows the manual page' },
    output: 'page',
    run: async () => {
      const { manPage } = await import('../render/man.ts')
      const page = manPage(await allCommands(), ABOUT['heimdall'] ?? '', VERSION)
      return { data: { page }, text: page }
    },
  }),
  command({
    names: ['heimdall hash'],
    summary: 'Print the canonical SHA-256 of JSON on stdin',
    about: 'Equal JSON values have the same hash, whatever their spacing and key order. Duplicate keys are an error.',
    flags: { canonical: { help: 'print the canonical JSON instead of its hash' } },
    examples: {
      [`echo '{"b":2,"a":1}' | heimdall hash`]:
        'prints 43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777',
    },
    output: 'hash (lowercase hex), canonical (with --canonical)',
    run: async (context, { flags }) => {
      const { canonicalBytes, canonicalHash } = await import('../../canonical/canonical.ts')
      const source = await readAll(context.stdin)
      const hash = canonicalHash(source)
      if (flags.canonical !== true) return { data: { hash }, text: hash }
      const canonical = canonicalBytes(source).toString('utf8')
      return { data: { hash, canonical }, text: canonical }
    },
  }),
  command({
    names: ['heimdall version'],
    summary: 'Print the versions of Heimdall, Node.js and the platform',
    examples: { 'heimdall version': 'prints them in one line, for a bug report' },
    output: 'version, node, platform',
    run: async () => {
      const data = { version: VERSION, node: process.version, platform: `${process.platform}-${process.arch}` }
      return { data, text: `heimdall ${data.version}, node ${data.node}, ${data.platform}` }
    },
  }),
]
