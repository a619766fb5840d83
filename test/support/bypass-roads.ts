// A denied tool, asked for in every way that got past the origin's shim.

export const DELETE = '"params":{"name":"delete_all","arguments":{}}'

/** Each line asks for `delete_all` by another road. */
export const ROADS: readonly (readonly [string, string])[] = [
  ['a batch', `[{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}]`],
  ['a batch behind white space', ` \t[{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}]`],
  [
    'a batch beside harmless requests',
    `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call",${DELETE}}]`,
  ],
  [
    'arguments as an array',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_all","arguments":[]}}',
  ],
  [
    'arguments as a string',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_all","arguments":"{}"}}',
  ],
  ['params as an array', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["delete_all",{}]}'],
  ['a second method in other case', `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call",${DELETE}}`],
  ['a method only in other case', `{"jsonrpc":"2.0","id":1,"METHOD":"tools/call",${DELETE}}`],
  [
    'a second name in other case',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"delete_all"}}',
  ],
  ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"delete_all"}}'],
  [
    'a name twice, the other way round',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_all","name":"echo"}}',
  ],
  ['a method twice', `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping",${DELETE}}`],
  ['params twice', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},${DELETE}}`],
  ['a key spelled with an escape', `{"jsonrpc":"2.0","id":1,"\\u006dethod":"tools/call",${DELETE}}`],
  ['a key with the long s', '{"jsonrpc":"2.0","id":1,"method":"tools/call","param\u017f":{"name":"delete_all"}}'],
  ['a method spelled with escapes', `{"jsonrpc":"2.0","id":1,"method":"tools\\/c\\u0061ll",${DELETE}}`],
  ['a method in other case', `{"jsonrpc":"2.0","id":1,"method":"Tools/Call",${DELETE}}`],
  ['a method with a blank', `{"jsonrpc":"2.0","id":1,"method":"tools/call ",${DELETE}}`],
  [
    'a name spelled with escapes',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\u0064elete_all"}}',
  ],
  ['an object as id', `{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call",${DELETE}}`],
  ['an array as id', `{"jsonrpc":"2.0","id":[1],"method":"tools/call",${DELETE}}`],
  ['null as id', `{"jsonrpc":"2.0","id":null,"method":"tools/call",${DELETE}}`],
  ['a boolean as id', `{"jsonrpc":"2.0","id":true,"method":"tools/call",${DELETE}}`],
  ['a notification', `{"jsonrpc":"2.0","method":"tools/call",${DELETE}}`],
  ['a message over two lines', `{"jsonrpc":"2.0","id":1,\n"method":"tools/call",${DELETE}}`],
  ['comments', `{"jsonrpc":"2.0","id":1,/* */"method":"tools/call",${DELETE}}`],
  ['single quotes', "{'method':'tools/call','params':{'name':'delete_all'}}"],
  ['a trailing comma', `{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE},}`],
  ['a byte order mark', `\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}`],
  [
    'two messages on one line',
    `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"tools/call",${DELETE}}`,
  ],
  [
    'a header in the manner of LSP',
    `Content-Length: 80\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}`,
  ],
  [
    'a carriage return between messages',
    `{"jsonrpc":"2.0","id":1,"method":"ping"}\r{"jsonrpc":"2.0","id":2,"method":"tools/call",${DELETE}}`,
  ],
  // Readers with universal newlines see a line of its own between the two carriage returns.
  ['a carriage return inside a message', `{"a":\r{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}\r}`],
  ['a carriage return inside a batch', `[1,\r{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}\r]`],
  [
    'a carriage return inside a result',
    `{"jsonrpc":"2.0","id":9,"result":\r{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}\r}`,
  ],
  ['depth', `{"jsonrpc":"2.0","id":1,"x":${'['.repeat(5_000)}${']'.repeat(5_000)},"method":"tools/call",${DELETE}}`],
  ['a prototype', `{"jsonrpc":"2.0","id":1,"__proto__":{"method":"ping"},"method":"tools/call",${DELETE}}`],
  ['a huge number as id', `{"jsonrpc":"2.0","id":1e999,"method":"tools/call",${DELETE}}`],
]
