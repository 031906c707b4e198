/** A request that costs a server more than its sender, unless it is limited. */
export interface Attack {
  readonly name: string;
  readonly query: string;
  /** JSON text; JSON.stringify could not write all of them. */
  readonly variables?: string;
  readonly operationName?: string;
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const joined = (count: number, make: (index: number) => string) => times(count, make).join(' ');
const nested = (depth: number, open: string, middle: string, close: string) =>
  open.repeat(depth) + middle + close.repeat(depth);
const deepList = (depth: number) => nested(depth, '[', '1', ']');
const variables = (values: Readonly<Record<string, unknown>>) => JSON.stringify(values);

const WORLD = '{west: -180, south: -85, east: 180, north: 85}';
const inViewport = (fields: string) => `{viewport(bounds: ${WORLD}, zoom: 2) {${fields}}}`;
const ofCollection = (fields: string, variables = '') => `query ${variables}{collection(key: "parks") {${fields}}}`;
const MEGABYTE = 1_000_000;

/** Documents at or beyond the limits of size and structure. */
const FORMS: readonly Attack[] = [
  {
    name: 'an operation with a name of 4 MB',
    query: `query ${'a'.repeat(4 * MEGABYTE)}(${joined(100, (at) => `$a${at}:Int`)}){__typename}`,
  },
  {
    name: 'unused variables under a long name',
    query: `query ${'a'.repeat(60_000)}(${joined(100, (at) => `$a${at}:Int`)}){__typename}`,
  },
  {
    name: 'variables of no input type',
    query: `query ${'a'.repeat(240)}(${joined(600, (at) => `$a${at}:Marker`)}){__typename}`,
  },
  {
    name: 'variables of types that are almost known',
    query: `query (${joined(600, (at) => `$a${at}:MarkerFilte${at}`)}){__typename}`,
  },
  { name: 'many unused variables', query: `query (${joined(1_900, (at) => `$a${at}:Int`)}){__typename}` },
  {
    name: 'variables that are not defined',
    query: `{collections(first: 1) {nodes {${joined(190, (at) => `m${at}: markers(first: $v${at}) {nodes {key}}`)}}}}`,
  },
  { name: 'equal variables', query: `query (${'$a:Int '.repeat(1_900)}){__typename}` },
  {
    name: 'long defaults of the wrong type',
    query: `query (${joined(90, (at) => `$a${at}:Int=[${'1 '.repeat(60)}]`)}){__typename}`,
  },
  { name: 'unknown fields', query: `{${joined(1_000, (at) => `colections${at}`)}}` },
  { name: 'unknown fields after many lines', query: `${'\n'.repeat(50_000)}{${joined(900, (at) => `col${at}`)}}` },
  { name: 'unknown fields with long names', query: `{${joined(200, (at) => `collections${'s'.repeat(230)}${at}`)}}` },
  { name: 'unknown fields of an interface', query: `{node(id: "a") {${joined(990, (at) => `kez${at}`)}}}` },
  {
    name: 'unknown arguments',
    query: `{${joined(190, (at) => `a${at}: collections(firs${at}: 1 afte${at}: 2 firstt: 3)`)}}`,
  },
  { name: 'unknown types', query: `{${joined(990, (at) => `...on Marke${at}{key}`)}}` },
  { name: 'unknown fragments', query: `{${joined(990, (at) => `...F${at}`)}}` },
  { name: 'unused fragments', query: `{__typename} ${joined(900, (at) => `fragment F${at} on Query{__typename}`)}` },
  { name: 'unknown directives', query: `{__typename ${'@includ '.repeat(3_900)}}` },
  { name: 'repeated directives', query: `{__typename ${'@skip(if:true) '.repeat(1_100)}}` },
  {
    name: 'unknown fields of an input',
    query: `{viewport(bounds: {${joined(2_500, (at) => `wes${at}:1`)}}, zoom: 1) {precision}}`,
  },
  { name: 'equal fields of an input', query: `{viewport(bounds: {${'west:1 '.repeat(2_500)}}, zoom: 1) {precision}}` },
  { name: 'a wrong value of 60 KB', query: `{viewport(bounds: "${'x'.repeat(60_000)}", zoom: 1) {precision}}` },
  {
    name: 'many wrong values',
    query: inViewport(joined(190, (at) => `m${at}: markers(collection: 1, first: "${'x'.repeat(200)}") {nodes {key}}`)),
  },
  {
    name: 'wrong lists',
    query: inViewport(joined(90, (at) => `m${at}: markers(collection: [${'1 '.repeat(60)}]) {nodes {key}}`)),
  },
  { name: 'fields without selections', query: `{${joined(199, (at) => `a${at}: collections`)}}` },
  { name: 'selections of scalars', query: `{collections {nodes {${joined(199, (at) => `a${at}: key {a b c}`)}}}}` },
  { name: 'equal fields', query: `{${'collections {nodes {key}} '.repeat(50)}}` },
  {
    name: 'equal fields in many places',
    query: `{${joined(9, (at) => `a${at}: collections {${'nodes {key} '.repeat(23)}}`)}}`,
  },
  {
    name: 'equal fields with long arguments',
    query: `{${joined(9, (at) => `viewport(bounds: {west: ${at}, south: 0, east: 1, north: 1, ${joined(20, (n) => `x${n}: [${n}]`)}}, zoom: 1) {precision}`)}}`,
  },
  {
    name: 'equal fields in many places with arguments',
    query: `{collections {nodes {${joined(9, (at) => `a${at}: markersIn(place: "x") {${`nodes {readings(last: ${at}, from: "2020-01-01T00:00:00Z", to: "2020-01-01T00:00:00Z") {at}} `.repeat(8)}}`)}}}}`,
  },
  { name: 'fields that conflict', query: `{collections {nodes {${'a: key a: name a: code '.repeat(16)}}}}` },
  {
    name: 'fields that conflict deep down',
    query: `{${joined(20, (at) => `collections {nodes {a: ${at % 2 ? 'key' : 'name'} ${joined(6, (n) => `b${n}: ${at % 3 ? 'key' : 'name'}`)}}}`)}}`,
  },
  {
    name: 'fragments that conflict',
    query: `{collections {nodes {${joined(50, (at) => `...F${at}`)}}}} ${joined(50, (at) => `fragment F${at} on Collection{a: ${at % 2 ? 'key' : 'name'} ${joined(3, (n) => `f${n}: ${(at + n) % 2 ? 'key' : 'name'}`)}}`)}`,
  },
  {
    name: 'fragments on two types with other fields',
    query: `{node(id: "a") {${joined(24, (at) => `... on Collection {v${at % 3}: key w: name} ... on Marker {v${at % 3}: name w: key}`)}}}`,
  },
  {
    name: 'fragments that spread each other',
    query: `{...F0} ${joined(30, (at) => `fragment F${at} on Query{${joined(30, (to) => `...F${to}`)}}`)}`,
  },
  {
    name: 'a long cycle of fragments',
    query: `{...F0} ${joined(450, (at) => `fragment F${at} on Query{...F${(at + 1) % 450}}`)}`,
  },
  {
    name: 'fragments that double each other',
    query: `{...F0} ${joined(60, (at) => `fragment F${at} on Query{...F${at + 1} ...F${at + 1}}`)} fragment F60 on Query{__typename}`,
  },
  {
    name: 'cycles under introspection',
    query: `{__schema{types{...F0}}} ${joined(8, (at) => `fragment F${at} on __Type{${joined(8, (to) => (to === at ? '' : `ofType{...F${to}}`))}}`)}`,
  },
  {
    name: 'introspection that repeats its lists',
    query: `{__schema{types{${nested(9, 'fields{type{', 'name', '}}')}}}}`,
  },
  {
    name: 'many introspections',
    query: `{${joined(190, (at) => `a${at}: __type(name: "Marker") {name fields {name}}`)}}`,
  },
  {
    name: 'operations that share a fragment with many variables',
    query: `${joined(99, (at) => `query Q${at}($a:Int){...F}`)} fragment F on Query{collections(first: $a) {nodes {markers(first: $a) {nodes {key}}}}}`,
  },
  {
    name: 'operations that share a fragment with a long list of variables',
    query: `${joined(99, (at) => `query Q${at}($a:ID!){...F}`)} fragment F on Query{nodes(ids: [${'$a '.repeat(70)}]) {id}}`,
    operationName: 'Q0',
  },
  { name: 'many operations', query: joined(99, (at) => `query Q${at}{${joined(9, () => '__typename')}}`) },
  { name: 'operations with one name', query: 'query Q{__typename}'.repeat(900) },
  {
    name: 'a literal nested 240 deep',
    query: ofCollection(
      `markers(filter: {properties: [{name: "a", eq: ${nested(230, '[', '1', ']')}}]}) {nodes {key}}`,
    ),
  },
  {
    name: 'objects nested 120 deep',
    query: ofCollection(
      `markers(filter: {properties: [{name: "a", eq: ${nested(120, '{a:', '1', '}')}}]}) {nodes {key}}`,
    ),
  },
  { name: 'brackets nested beyond any use', query: `{a(b:${'['.repeat(7_000)}` },
  { name: 'a list of numbers', query: `{nodes(ids: [${'1 '.repeat(7_900)}]) {id}}` },
  {
    name: 'a literal with too large numbers',
    query: ofCollection(
      `markers(filter: {properties: [{name: "a", in: [${'9007199254740993 '.repeat(3_000)}]}]}) {nodes {key}}`,
    ),
  },
  { name: 'more tokens than any request', query: `{a(b:[${'1 '.repeat(31_000)}])}` },
  { name: 'a comment of 60 KB', query: `#${'x'.repeat(60_000)}\n{__typenam}` },
  { name: 'a comment of 4 MB', query: `#${'x'.repeat(4 * MEGABYTE)}\n{__typename}` },
  { name: 'a block string of many lines', query: `{collection(key: """${'\n x'.repeat(20_000)}""") {key} a}` },
  { name: 'a string that does not end', query: `{collection(key: "${'x'.repeat(60_000)}` },
  { name: 'escapes', query: `{collection(key: "${'\\u{1F600}'.repeat(6_000)}") {ke}}` },
  { name: 'an unexpected character after many lines', query: `${'\n'.repeat(60_000)}%` },
  {
    name: 'a subscription to everything',
    query: `subscription {${joined(190, (at) => `a${at}: markerChanged(collection: "parks") {id}`)}}`,
  },
];

const VIEWPORT = 'query ($bounds: BoundsInput!) {viewport(bounds: $bounds, zoom: 1) {precision}}';
const MARKERS = (type: string, argument: string) =>
  ofCollection(`${argument} {edges {node {key}}}`, `($value: ${type}) `);

/** Valid documents with invalid variables. */
const INPUTS: readonly Attack[] = [
  {
    name: 'an operation name of 4 MB',
    query: 'query A{__typename} query B{__typename}',
    operationName: 'a'.repeat(4 * MEGABYTE),
  },
  {
    name: '300 wrong variables',
    query: `query (${joined(300, (at) => `$v${at}: Int!`)}) {collections(first: $v0) {nodes {${joined(100, (at) => `a${at}: markers(first: $v${at}) {totalCount: __typename}`)}}}}`,
    variables: variables(Object.fromEntries(times(300, (at) => [`v${at}`, 'x']))),
  },
  {
    name: '100 wrong variables that are used',
    query: `query (${joined(100, (at) => `$v${at}: Int`)}) {collection(key: "parks") {${joined(100, (at) => `a${at}: markers(first: $v${at}) {edges {cursor}}`)}}}`,
    variables: variables(Object.fromEntries(times(100, (at) => [`v${at}`, 'x'.repeat(30_000)]))),
  },
  {
    name: 'an input with 1,000 unknown fields of 3 KB',
    query: VIEWPORT,
    variables: variables({ bounds: Object.fromEntries(times(1_000, (at) => [`wes${at}`, 'x'.repeat(3_000)])) }),
  },
  {
    name: 'an input with an unknown field of 3 MB',
    query: VIEWPORT,
    variables: variables({ bounds: { ['w'.repeat(3 * MEGABYTE)]: 1 } }),
  },
  { name: 'a wrong variable of 3 MB', query: VIEWPORT, variables: variables({ bounds: 'x'.repeat(3 * MEGABYTE) }) },
  {
    name: '500,000 wrong items of a list',
    query: 'query ($value: [ID!]!) {nodes(ids: $value) {id}}',
    variables: variables({ value: times(500_000, () => true) }),
  },
  {
    name: 'a polygon nested 5,000 deep',
    query: MARKERS('GeoJSON!', 'inside(polygon: $value)'),
    variables: `{"value":{"type":"Polygon","coordinates":${deepList(5_000)}}}`,
  },
  {
    name: 'a filter nested 50,000 deep',
    query: ofCollection('markers(filter: {properties: [{name: "a", eq: $value}]}) {edges {cursor}}', '($value: JSON) '),
    variables: `{"value":${deepList(50_000)}}`,
  },
  {
    name: 'a variable nested 100,000 deep that no operation has',
    query: '{__typename}',
    variables: `{"value":${deepList(100_000)}}`,
  },
];

/** Requests that a server must refuse quickly or, if they are allowed, prepare quickly. */
export const ATTACKS: readonly Attack[] = [...FORMS, ...INPUTS];

/** A request as the body of a POST. */
export function bodyOf({ query, variables: values = '{}', operationName }: Attack): string {
  const name = operationName === undefined ? '' : `,"operationName":${JSON.stringify(operationName)}`;
  return `{"query":${JSON.stringify(query)},"variables":${values}${name}}`;
}
