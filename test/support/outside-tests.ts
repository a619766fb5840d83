// Stands in for vitest where what tests use runs in a program of its own: what would be done when a test ends is done when the program says so.
type Act = () => unknown

const acts: Act[] = []

export function onTestFinished(act: Act): void {
  acts.push(act)
}

/** The last first, as vitest does it. */
export async function finish(): Promise<void> {
  for (let act = acts.pop(); act !== undefined; act = acts.pop()) await act()
}
