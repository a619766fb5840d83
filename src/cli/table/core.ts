// Commands of the house itself: version, configuration, hashes.
import { type Command, spec } from '../command.ts'

export const version = spec({
  names: ['heimdall version'],
  summary: 'The version of Heimdall and of what it runs on',
  examples: [{ run: 'heimdall version', does: 'prints the version, and the versions of Node.js and the platform' }],
  output: {
    version: 'version of this package',
    node: 'version of Node.js',
    platform: 'operating system and processor',
  },
})

export const coreCommands: readonly Command[] = [{ spec: version, load: () => import('../commands/version.ts') }]
