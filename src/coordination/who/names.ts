// Names for agents that come without one: an adjective and a noun (seed 002 §3.3).
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'

const AGENT_ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const ADJECTIVES =
  'amber ashen azure brisk bronze calm cedar cobalt copper coral crimson dusky eager early ember fern frosty gentle golden granite hazel indigo ivory jade keen lilac lunar maple mellow misty mossy navy noble ochre olive opal pearl plum quiet rapid rosy ruby rustic sable saffron sandy scarlet silver slate solar steady stone sunny swift teal tidal topaz umber velvet violet vivid warm willow windy'
const NOUNS =
  'anchor badger beacon birch brook canyon cedar cliff comet condor coral crane creek delta dune eagle ember falcon fern finch fjord forge fox glade grove harbor hawk heron island jaguar kestrel lagoon lantern lark ledge lynx marlin marten meadow mesa moose oak orchard osprey otter owl panther peak pine prairie puffin quarry raven reef ridge river robin sparrow spruce summit swan thicket tiger trail valley walrus wolf wren'

/** Whom a note to all is sent to. */
export const EVERYBODY = 'broadcast'

export function parseAgentId(text: string): string {
  if (text === EVERYBODY)
    throw new HeimdallError(
      'INVALID_AGENT_ID',
      `${text} is everybody: a note to an agent of that name would reach all`,
      {
        hint: 'take another name, such as amber-otter',
      },
    )
  if (text.length >= 3 && text.length <= 48 && AGENT_ID.test(text)) return text
  throw new HeimdallError('INVALID_AGENT_ID', `${printable(text)} is not an agent id`, {
    hint: 'use 3 to 48 lower-case letters, digits and single hyphens, such as amber-otter',
  })
}

/** `amber-otter`; when the first tries are taken, a number is added, so that it always ends. */
export function freeName(isTaken: (name: string) => boolean, random: () => number): string {
  const pick = (words: string): string => {
    const list = words.split(' ')
    return list[Math.floor(random() * list.length)] ?? 'amber'
  }
  const make = (): string => `${pick(ADJECTIVES)}-${pick(NOUNS)}`
  for (let attempt = 0; attempt < 24; attempt += 1) {
    const name = make()
    if (!isTaken(name)) return name
  }
  const base = make()
  for (let number = 2; ; number += 1) if (!isTaken(`${base}-${number}`)) return `${base}-${number}`
}
