// The literal folder in front of a scope's first wildcard: what an index can find candidates by.

export interface BaseQuery {
  /** Bases that a colliding scope may have above or at this one, `''` included. */
  readonly atOrAbove: readonly string[]
  /** Bases below this one are the texts `from <= base < to`; everything when the base is `''`. */
  readonly from: string
  readonly to: string
}

/**
 * Two scopes can only collide when one's base is the other's or lies above it. A search must look both ways: for
 * bases above the wanted one (equality against a handful) and below it (one range of the index).
 */
export function baseQuery(base: string): BaseQuery {
  if (base === '') return { atOrAbove: [''], from: '', to: '\u{10ffff}' }
  const segments = base.split('/')
  const above = segments.map((_, i) => segments.slice(0, i + 1).join('/'))
  // `0` is the character after `/`, so the range holds exactly what starts with the base and a slash.
  return { atOrAbove: ['', ...above], from: `${base}/`, to: `${base}0` }
}

export function basesMeet(a: string, b: string): boolean {
  return isAtOrAbove(a, b) || isAtOrAbove(b, a)
}

function isAtOrAbove(above: string, below: string): boolean {
  return above === '' || above === below || (below.startsWith(above) && below[above.length] === '/')
}
