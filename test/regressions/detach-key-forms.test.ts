// Ctrl-\\ detaches in every form in which terminals send it when a program has asked for keys as numbers.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'

const FORMS = ['\u001c', '\u001b[27;5;92~', '\u001b[92;5u']

test.each(FORMS.flatMap((key) => [[], ['--inline']].map((flags) => ({ key, flags }))))(
  '$key detaches, attached $flags',
  async ({ key, flags }) => {
    const home = hm()
    await home.session('s', ['sh', '-c', 'echo here; cat'])
    const person = atTerminal(home, ['attach', 's', ...flags])
    await person.see('here')
    person.type(key)
    expect(await person.ended).toBe(0)
    await person.see('[detached; hm attach s returns]')
    expect((await home.json(['status', 's']))['alive']).toBe(true)
  },
)
