// Asks a question at a terminal and does not echo the answer.
import { StringDecoder } from 'node:string_decoder'
import { HeimdallError } from '../errors.ts'
import { takeInput } from '../user-terminal.ts'

const ENTER = new Set(['\r', '\n'])
const ERASE = new Set(['\u0008', '\u007f'])
const INTERRUPT = '\u0003'
const END_OF_INPUT = '\u0004'
const ERASE_ALL = '\u0015'

/** The line that is typed. Ctrl-C refuses; Ctrl-D ends it like Enter. */
export function askHidden(stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream, question: string): Promise<string> {
  // Before the question, so that nothing typed at it is echoed.
  stdin.setRawMode(true)
  const decoder = new StringDecoder('utf8')
  stderr.write(question)
  return new Promise((resolve, reject) => {
    let typed: string[] = []
    const done = (settle: () => void): void => {
      release()
      stdin.setRawMode(false)
      stderr.write('\n')
      settle()
    }
    const ended = (): void => done(() => resolve(typed.join('')))
    const take = (chunk: Buffer): void => {
      for (const char of decoder.write(chunk)) {
        if (ENTER.has(char) || char === END_OF_INPUT) {
          ended()
          return
        }
        if (char === INTERRUPT) {
          done(() => reject(new HeimdallError('INTERRUPTED', 'nothing was stored')))
          return
        }
        if (char === ERASE_ALL) typed = []
        else if (ERASE.has(char)) typed.pop()
        else typed.push(char)
      }
    }
    const release = takeInput(stdin, take, ended)
  })
}
