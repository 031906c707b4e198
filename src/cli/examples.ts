/** Examples for each command's help, by full command name. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'cellport serve': ['cellport serve', 'PORT=8080 cellport serve --demo', 'cellport serve --geo-table places'],
  'cellport import': [
    'cellport import shops.geojson --collection shops',
    'cellport import shops.csv --collection shops --key-column code --lat-column Breite --lng-column Länge',
    'cellport import districts.geojson --collection districts --name "Districts of Poznań"',
    'cellport import --readings measured.csv --collection sensors',
  ],
  'cellport export': [
    'cellport export --collection shops > shops.geojson',
    'cellport export --collection shops --bounds 16.8,52.3,17.0,52.5 --out poznan.csv',
    'cellport export --collection districts --zones --out districts.geojson.gz',
  ],
  'cellport search': [
    'cellport search sao paulo',
    'cellport search lond --collection cities --near -0.1,51.5 --first 5',
    'cellport search --bounds 16.8,52.3,17.0,52.5 --json',
  ],
  'cellport recount': ['cellport recount --check', 'cellport recount'],
  'cellport reindex': ['cellport reindex --check', 'cellport reindex'],
  'cellport dead-letters': ['cellport dead-letters', 'cellport dead-letters --stream --json'],
  'cellport repartition': [
    'cellport repartition shops --prefix-length 3 --shards 4 --max-wcu 200',
    'cellport repartition shops --map-property price,open',
    'cellport repartition shops',
    'cellport repartition shops --undo',
  ],
  'cellport delete': ['cellport delete shops', 'cellport delete shops --yes --wait --json'],
  'cellport table': ['cellport table create', 'cellport table describe'],
  'cellport table create': ['AWS_REGION=eu-central-1 CELLPORT_TABLE=places cellport table create'],
  'cellport table describe': ['cellport table describe --json'],
  'cellport table delete': ['CELLPORT_TABLE=places cellport table delete --yes'],
  'cellport keys': ['cellport keys marker shops poz-1 --lng 16.9 --lat 52.4'],
  'cellport keys collection': ['cellport keys collection shops'],
  'cellport keys marker': ['cellport keys marker shops poz-1 --lng 16.9 --lat 52.4'],
  'cellport keys cell': ['cellport keys cell shops u3k'],
  'cellport sweep': ['cellport sweep --older-than 120'],
  'cellport advise': [
    'cellport advise shops.geojson --views-a-day 1000000 --writes 50',
    'cellport advise --collection shops --items 5000000 --html report.html',
    'cellport advise --rcu 1000 --wcu 500 --gb 50 --json',
  ],
  'cellport hot': ['cellport hot', 'cellport hot --url https://maps.example.org --json'],
  'cellport plan': [
    'cellport plan --bounds 16.8,52.3,17.0,52.5 --zoom 12 --collection shops --live',
    'cellport plan --bounds 16.8,52.3,17.0,52.5 --zoom 12 --prefix-length 3',
  ],
};
