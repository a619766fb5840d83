// Where every launcher of bin/ comes in.
import { writeSync } from 'node:fs'
import { VERSION } from './version.ts'

export function start(bin: string): void {
  const words = process.argv.slice(2)
  // Probes and installers ask for the version in loops: it waits neither for the table of all commands nor for
  // `process.stdout`, which on a pipe loads all of Node's networking.
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    printNow(VERSION)
    return
  }
  void import('./main.ts')
    .then(({ main }) => main(bin, words, process.env, process.cwd(), process))
    .then((code) => {
      // Not process.exit(): what is still on its way to a pipe must get out.
      process.exitCode = code
    })
}

function printNow(text: string): void {
  try {
    writeSync(1, `${text}\n`)
  } catch (error) {
    // The reader has gone: nobody is left to tell.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  }
}
