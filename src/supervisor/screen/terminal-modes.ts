// Modes that a child has switched on, followed in the emulator's parser, because the emulator forgets or hides some.
import { SOFT_RESET_MODES, switchMode } from '../../cells/modes.ts'
import type { Emulator } from './emulator.ts'

/** Switched by other means than a mode, or only for a moment (2026: redraw in one go). */
const NOT_RESTORED = new Set([3, 6, 7, 25, 47, 1_047, 1_048, 1_049, 2_026])

export interface TerminalModes {
  /** DEC private modes that differ from a fresh terminal and are to be set again. */
  readonly privateModes: readonly number[]
  readonly isCursorHidden: boolean
  /** DECSCUSR; 0 is the terminal's own. */
  readonly cursorStyle: number
  /** Kitty keyboard flags in force. */
  readonly keyboardFlags: number
  /** xterm's modifyOtherKeys. */
  readonly otherKeys: number
}

export function followModes(emulator: Emulator): TerminalModes {
  const set = new Set<number>()
  let isCursorHidden = false
  let cursorStyle = 0
  let keyboard: number[] = [0]
  let otherKeys = 0
  const first = (params: readonly (number | number[])[], fallback = 0): number => {
    const [value] = params
    return typeof value === 'number' ? value : fallback
  }
  const apply = (params: readonly (number | number[])[], isSet: boolean): boolean => {
    for (const mode of params) {
      if (typeof mode !== 'number') continue
      if (mode === 25) isCursorHidden = !isSet
      switchMode(set, mode, isSet)
    }
    // Not handled here: the emulator goes on with the same sequence.
    return false
  }
  const reset = (modes: readonly number[]): void => {
    for (const mode of modes) set.delete(mode)
    isCursorHidden = false
    cursorStyle = 0
  }
  const { parser } = emulator
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => apply(params, true))
  parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => apply(params, false))
  parser.registerCsiHandler({ intermediates: ' ', final: 'q' }, (params) => {
    cursorStyle = first(params)
    return false
  })
  parser.registerCsiHandler({ prefix: '>', final: 'u' }, (params) => {
    keyboard = [...keyboard, first(params)].slice(-16)
    return true
  })
  parser.registerCsiHandler({ prefix: '<', final: 'u' }, (params) => {
    keyboard = keyboard.slice(0, -Math.max(1, first(params, 1)))
    if (keyboard.length === 0) keyboard = [0]
    return true
  })
  parser.registerCsiHandler({ prefix: '=', final: 'u' }, (params) => {
    const [, how] = params
    const before = keyboard.at(-1) ?? 0
    const flags = first(params)
    keyboard = [...keyboard.slice(0, -1), how === 2 ? before | flags : how === 3 ? before & ~flags : flags]
    return true
  })
  parser.registerCsiHandler({ prefix: '>', final: 'm' }, (params) => {
    if (first(params) === 4) otherKeys = typeof params[1] === 'number' ? params[1] : 0
    return true
  })
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => {
    reset(SOFT_RESET_MODES)
    return false
  })
  parser.registerEscHandler({ final: 'c' }, () => {
    reset([...set])
    keyboard = [0]
    otherKeys = 0
    return false
  })
  return {
    get privateModes() {
      return [...set].filter((mode) => !NOT_RESTORED.has(mode))
    },
    get isCursorHidden() {
      return isCursorHidden
    },
    get cursorStyle() {
      return cursorStyle
    },
    get keyboardFlags() {
      return keyboard.at(-1) ?? 0
    },
    get otherKeys() {
      return otherKeys
    },
  }
}
