// Private modes of a terminal that go together: which exclude each other, and which a soft reset takes back. Pure.
import { MOUSE_FORMS, MOUSE_TRACKING } from './mouse.ts'

/** Of each of these one at most is on. Switching any off switches all off. */
const EXCLUSIVE: readonly (readonly number[])[] = [MOUSE_TRACKING, MOUSE_FORMS]

/** Back to their defaults by a soft reset, as the emulator does it: what is drawn and what is told of modes must agree. */
export const SOFT_RESET_MODES: readonly number[] = [1, 6, 25, 45, 66, 1_004, 2_004]

/** Switches a mode among those that are on. */
export function switchMode(on: Set<number>, mode: number, isOn: boolean): void {
  for (const other of EXCLUSIVE.find((group) => group.includes(mode)) ?? [mode]) on.delete(other)
  if (isOn) on.add(mode)
}
