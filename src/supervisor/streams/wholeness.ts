// Whether the screen shows all that the child drew: not after output was passed over, until nothing of before is left.
import { type Emulator, marginsOf } from '../screen/emulator.ts'

export interface Wholeness {
  readonly isWhole: boolean
  /** Output was passed over: what is on the screen now may be older than it should be. */
  lose(): void
}

/** Screens that are entered empty. */
const FRESH_SCREENS = [1_047, 1_049]

export function followWholeness(emulator: Emulator): Wholeness {
  let isWhole = true
  /** Rows of then that may still be there; each scroll of the whole screen takes one away. */
  let rowsLeft = 0
  const restore = (): false => {
    isWhole = true
    // Not handled here: the emulator goes on with the same sequence.
    return false
  }
  emulator.parser.registerCsiHandler({ final: 'J' }, ([what]) => what === 2 && restore())
  emulator.parser.registerEscHandler({ final: 'c' }, restore)
  emulator.parser.registerCsiHandler(
    { prefix: '?', final: 'h' },
    (modes) => modes.some((mode) => typeof mode === 'number' && FRESH_SCREENS.includes(mode)) && restore(),
  )
  emulator.onScroll(() => {
    if (isWhole || emulator.buffer.active.type !== 'normal') return
    const { scrollTop, scrollBottom } = marginsOf(emulator, 'normal')
    if (scrollTop === 0 && scrollBottom === emulator.rows - 1) rowsLeft -= 1
    if (rowsLeft <= 0) restore()
  })
  return {
    get isWhole() {
      return isWhole
    },
    lose() {
      isWhole = false
      rowsLeft = emulator.rows
    },
  }
}
