// The parameters of a control sequence, as a parser hands them out, in the text they were. Pure.

export type Params = readonly (number | number[])[]

/** A parameter that was left out comes as 0, and means it. */
export const paramsText = (params: Params): string =>
  params.map((param) => (Array.isArray(param) ? param.join(':') : param === 0 ? '' : String(param))).join(';')
