using System.Text.Json.Serialization;

namespace Locations;

/// <summary>The languages of the API.</summary>
public enum Language { Cs, De, En, Pl, Sk }

/// <summary>The names of a place, as Elasticsearch has them: flat keys with a dot.</summary>
public abstract class Place
{
    [JsonPropertyName("name.cs")] public required string Cs { get; init; }
    [JsonPropertyName("name.de")] public required string De { get; init; }
    [JsonPropertyName("name.en")] public required string En { get; init; }
    [JsonPropertyName("name.pl")] public required string Pl { get; init; }
    [JsonPropertyName("name.sk")] public required string Sk { get; init; }

    public string Name(Language language) => language switch
    {
        Language.Cs => Cs,
        Language.De => De,
        Language.En => En,
        Language.Pl => Pl,
        Language.Sk => Sk,
        _ => throw new ArgumentOutOfRangeException(nameof(language)),
    };
}

/// <summary>What is read of a city's document.</summary>
public sealed class City : Place
{
    public required long Id { get; init; }
    public required string CountryIso { get; init; }
    public required long RegionId { get; init; }
    public required bool IsFeatured { get; init; }
}

/// <summary>What is read of a region's document.</summary>
public sealed class Region : Place;

/// <summary>A city in the language of the request.</summary>
public sealed record CityResponse(string CountryIso, long Id, bool IsFeatured, string Name, string RegionName);

/// <summary>An answer other than 200.</summary>
public sealed record Problem(string Message);
