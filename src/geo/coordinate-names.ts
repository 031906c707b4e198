/** A name without case, accents, blanks and punctuation; most names are like this already. */
export function plainName(name: string): string {
  if (/^[a-z]+$/.test(name)) return name;
  const bare = name.normalize('NFD').toLowerCase();
  return bare.replace(/[^\p{L}\p{N}]/gu, '');
}

const LAT_WORDS =
  'lat(?:t?itude?|itudine)?|breiten?(?:grade?)?|breedtegraad|bredd?e?grad|szerokosc(?:geograficzna)?|(?:географ[а-яі]*)?широта|географскаширина|lintang|viđo|laiuskraad|platuma|خطالعرض|קורוחב|纬度|緯度|enlem|(?:zemepisna)?sirka|leveys(?:aste|piiri)?|(?:foldrajzi)?szelesseg|geografskasirina|γεωγραφικοπλατος|위도';
const LNG_WORDS =
  'lng|lon(?:g(?:t?itude?|itudine)?)?|la?engen?(?:grade?)?|langen?(?:grade?)?|lengtegraad|l[eæ]ngdegrad|langdgrad|d[lł]ugosc(?:geograficzna)?|(?:географ[а-яі]*)?до[лв]гота|географскадължина|bujur|kinhđo|pikkuskraad|ilguma|خطالطول|קואורך|经度|経度|經度|boylam|(?:zemepisna)?d(?:el|lz)ka|pituus(?:aste|piiri)?|(?:foldrajzi)?hosszusag|geografskaduzina|γεωγραφικομηκος|경도';

/** What both coordinates are called in many languages and programs, as parts of expressions for plain names. */
export const COORDINATE_WORDS = {
  lat: LAT_WORDS.normalize('NFD'),
  lng: LNG_WORDS.normalize('NFD'),
  /** What stands behind such a word, as in `lat_dd`. */
  behind: '(?:dd|dec(?:imal)?|(?:in)?deg(?:rees)?|wgs84|coord(?:inate)?|[nexy])?',
} as const;
