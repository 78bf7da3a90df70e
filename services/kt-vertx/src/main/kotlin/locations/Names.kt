package locations

import io.vertx.core.json.JsonObject

/** The languages of the API, by their code in the parameter `language`. */
@Suppress("EnumEntryName")
enum class Language { cs, de, en, pl, sk }

/** The names of a place, which a document has as flat keys with a dot. */
class Names(document: JsonObject) {
    private val byLanguage = Language.entries.associateWith { document.getString("name.$it") }

    operator fun get(language: Language): String? = byLanguage[language]
}
